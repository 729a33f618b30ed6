-- +goose Up
CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL);

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, epoch BIGINT NOT NULL DEFAULT 1,
  practice SMALLINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL);

-- The ledger: every transfer takes from one account and gives to another, so
-- that the balances of a workspace always sum to zero.
CREATE TABLE ledger_accounts (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  book TEXT NOT NULL CHECK (book IN ('credit', 'practice')),
  kind TEXT NOT NULL CHECK (kind IN ('available', 'held', 'spent', 'grant', 'absorbed', 'provider')),
  balance BIGINT NOT NULL DEFAULT 0, allow_negative SMALLINT NOT NULL DEFAULT 0,
  UNIQUE (workspace_id, book, kind), CHECK (allow_negative = 1 OR balance >= 0));

CREATE TABLE transfers (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, debit TEXT NOT NULL REFERENCES ledger_accounts (id),
  credit TEXT NOT NULL REFERENCES ledger_accounts (id), amount BIGINT NOT NULL CHECK (amount > 0), code TEXT NOT NULL,
  run_id TEXT, call_id TEXT, note TEXT NOT NULL DEFAULT '', created_at BIGINT NOT NULL, CHECK (debit <> credit));
CREATE UNIQUE INDEX transfers_once_call ON transfers (call_id, code) WHERE call_id IS NOT NULL;
CREATE INDEX transfers_run ON transfers (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX transfers_workspace ON transfers (workspace_id, created_at, id);

CREATE TABLE profiles (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL DEFAULT '', slug TEXT NOT NULL, version TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('staging', 'candidate', 'active', 'quarantined', 'retired')),
  claim TEXT NOT NULL DEFAULT '',
  task_count BIGINT NOT NULL, manifest_sha256 TEXT NOT NULL, doc TEXT NOT NULL, created_at BIGINT NOT NULL,
  UNIQUE (workspace_id, slug, version));
CREATE TABLE tasks (
  profile_id TEXT NOT NULL REFERENCES profiles (id), pos BIGINT NOT NULL, task_id TEXT NOT NULL, doc TEXT NOT NULL,
  PRIMARY KEY (profile_id, pos), UNIQUE (profile_id, task_id));

CREATE TABLE price_books (
  id TEXT PRIMARY KEY, route_id TEXT NOT NULL, valid_from BIGINT NOT NULL, doc TEXT NOT NULL);

CREATE TABLE connections (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, base_url TEXT NOT NULL,
  model_id TEXT NOT NULL, protocol TEXT NOT NULL, revision BIGINT NOT NULL, key_sealed BYTEA, key_version BIGINT NOT NULL,
  max_output_tokens BIGINT NOT NULL, context_window BIGINT NOT NULL, max_concurrency BIGINT NOT NULL DEFAULT 0,
  price_in BIGINT, price_out BIGINT, check_doc TEXT NOT NULL DEFAULT '{}', created_at BIGINT NOT NULL,
  checked_at BIGINT NOT NULL DEFAULT 0, disabled_at BIGINT NOT NULL DEFAULT 0,
  CHECK ((price_in IS NULL) = (price_out IS NULL)));
CREATE INDEX connections_workspace ON connections (workspace_id, created_at, id);

CREATE TABLE quotes (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), epoch BIGINT NOT NULL, source_run_id TEXT,
  scope_hash TEXT NOT NULL, price_id TEXT NOT NULL, cap BIGINT NOT NULL CHECK (cap > 0), min_cap BIGINT NOT NULL,
  created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, consumed_by TEXT, doc TEXT NOT NULL);

CREATE TABLE idempotency (
  workspace_id TEXT NOT NULL, op TEXT NOT NULL, key TEXT NOT NULL, request_hash TEXT NOT NULL, status BIGINT NOT NULL,
  body TEXT NOT NULL, run_id TEXT, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, op, key));

CREATE TABLE groups_ (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, quote_id TEXT NOT NULL UNIQUE, source_group_id TEXT UNIQUE,
  cap BIGINT NOT NULL CHECK (cap > 0), created_at BIGINT NOT NULL);

CREATE TABLE runs (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), group_id TEXT REFERENCES groups_ (id),
  quote_id TEXT NOT NULL UNIQUE REFERENCES quotes (id), source_run_id TEXT UNIQUE, chain_root TEXT NOT NULL,
  chain_pos BIGINT NOT NULL, scope_hash TEXT NOT NULL, name TEXT NOT NULL, metadata TEXT NOT NULL DEFAULT '{}',
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'stopping', 'finalizing', 'completed', 'partial', 'failed', 'cancelled')),
  stop_reason TEXT NOT NULL DEFAULT '', stop_detail TEXT NOT NULL DEFAULT '', book TEXT NOT NULL, cap BIGINT NOT NULL, held BIGINT NOT NULL,
  charged BIGINT NOT NULL DEFAULT 0, metered BIGINT NOT NULL DEFAULT 0, reserved BIGINT NOT NULL DEFAULT 0,
  waived BIGINT NOT NULL DEFAULT 0, absorbed BIGINT NOT NULL DEFAULT 0, unreported BIGINT NOT NULL DEFAULT 0,
  hold_released SMALLINT NOT NULL DEFAULT 0, planned BIGINT NOT NULL, next_seq BIGINT NOT NULL DEFAULT 1,
  profile_id TEXT NOT NULL, target TEXT NOT NULL, created_at BIGINT NOT NULL, started_at BIGINT NOT NULL DEFAULT 0,
  cancel_requested_at BIGINT NOT NULL DEFAULT 0, ended_at BIGINT NOT NULL DEFAULT 0, retry_at BIGINT NOT NULL DEFAULT 0,
  waiting_reason TEXT NOT NULL DEFAULT '', raw_expired SMALLINT NOT NULL DEFAULT 0,
  owner TEXT NOT NULL DEFAULT '', fence BIGINT NOT NULL DEFAULT 0, lease_until BIGINT NOT NULL DEFAULT 0,
  restored_at BIGINT NOT NULL DEFAULT 0,
  UNIQUE (chain_root, chain_pos),
  CHECK (charged >= 0 AND metered >= 0 AND reserved >= 0 AND charged + metered + reserved <= cap),
  CHECK (charged <= held));
CREATE INDEX runs_workspace ON runs (workspace_id, created_at, id);
CREATE INDEX runs_answers ON runs (created_at) WHERE raw_expired = 0;
CREATE INDEX runs_live ON runs (state) WHERE state IN ('queued', 'running', 'stopping', 'finalizing');

CREATE TABLE tallies (
  run_id TEXT NOT NULL REFERENCES runs (id), outcome TEXT NOT NULL, n BIGINT NOT NULL CHECK (n >= 0),
  PRIMARY KEY (run_id, outcome));

-- Sparse: a task has a row once it has left planned. pledged is what is set
-- aside for its judges and not yet in a call.
CREATE TABLE samples (
  run_id TEXT NOT NULL REFERENCES runs (id), idx BIGINT NOT NULL, task_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('planned', 'in_call', 'judging', 'answered', 'graded', 'unresolved', 'failed', 'refused', 'cancelled', 'left_out', 'pending')),
  outcome TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT 'new' CHECK (origin IN ('new', 'reused', 'saved_response', 'unknown_retry')),
  source_call_id TEXT, max_cost BIGINT NOT NULL, pledged BIGINT NOT NULL DEFAULT 0 CHECK (pledged >= 0), attempt BIGINT NOT NULL DEFAULT 0, charge BIGINT NOT NULL DEFAULT 0,
  score DOUBLE PRECISION, extracted TEXT NOT NULL DEFAULT '', span_from BIGINT, span_to BIGINT, rule TEXT NOT NULL DEFAULT '',
  grader TEXT NOT NULL DEFAULT '', grader_compat TEXT NOT NULL DEFAULT '', code TEXT NOT NULL DEFAULT '', started_at BIGINT NOT NULL, ended_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, idx));
CREATE INDEX samples_waiting ON samples (run_id, idx) WHERE state IN ('planned', 'judging', 'answered');

-- The journal of provider calls, written before each is made. nonce is what
-- fenced the answer in a judge's prompt.
CREATE TABLE calls (
  id TEXT PRIMARY KEY, run_id TEXT NOT NULL, idx BIGINT NOT NULL, kind TEXT NOT NULL DEFAULT 'target', part BIGINT NOT NULL DEFAULT 0,
  attempt BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('intent', 'sent', 'responded', 'rejected', 'voided', 'unknown', 'late')),
  worker TEXT NOT NULL, fence BIGINT NOT NULL, lease_until BIGINT NOT NULL, reserved BIGINT NOT NULL,
  spent BIGINT NOT NULL DEFAULT 0, absorbed BIGINT NOT NULL DEFAULT 0, request_hash TEXT NOT NULL,
  usage_doc TEXT NOT NULL DEFAULT '', finish TEXT NOT NULL DEFAULT '', provider_request_id TEXT NOT NULL DEFAULT '',
  outcome TEXT NOT NULL DEFAULT '', message TEXT NOT NULL DEFAULT '', consent_id TEXT, created_at BIGINT NOT NULL,
  sent_at BIGINT NOT NULL DEFAULT 0, ended_at BIGINT NOT NULL DEFAULT 0, nonce TEXT NOT NULL DEFAULT '',
  UNIQUE (run_id, idx, kind, part, attempt), FOREIGN KEY (run_id, idx) REFERENCES samples (run_id, idx));
CREATE UNIQUE INDEX calls_one_live ON calls (run_id, idx, kind, part) WHERE state IN ('intent', 'sent');

-- Raw answers, by the call that paid for them: ids are time-ordered, so that
-- inserts append and what expires first stands first. hash is the SHA-256 of
-- the uncompressed bytes. An expired answer keeps its hash and size.
CREATE TABLE blobs (
  call_id TEXT PRIMARY KEY, hash TEXT NOT NULL, size BIGINT NOT NULL, codec TEXT NOT NULL, data BYTEA,
  expires_at BIGINT NOT NULL, CHECK ((codec = 'expired') = (data IS NULL)));

CREATE TABLE events (
  run_id TEXT NOT NULL REFERENCES runs (id), seq BIGINT NOT NULL, type TEXT NOT NULL, at BIGINT NOT NULL, doc TEXT NOT NULL,
  PRIMARY KEY (run_id, seq));

CREATE TABLE results (
  run_id TEXT NOT NULL REFERENCES runs (id), version BIGINT NOT NULL, id TEXT NOT NULL, checksum TEXT NOT NULL, doc TEXT NOT NULL,
  PRIMARY KEY (run_id, version));

CREATE TABLE consents (
  id TEXT PRIMARY KEY, quote_id TEXT NOT NULL REFERENCES quotes (id),
  kind TEXT NOT NULL CHECK (kind IN ('start', 'left_out', 'include_cancelled', 'retry_unknown', 'duplicate_provider_charges')),
  actor TEXT NOT NULL, doc TEXT NOT NULL, at BIGINT NOT NULL, UNIQUE (quote_id, kind));

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, prefix TEXT NOT NULL UNIQUE,
  mac BYTEA NOT NULL, scopes TEXT NOT NULL, connection_id TEXT, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL DEFAULT 0,
  revoked_at BIGINT NOT NULL DEFAULT 0, last_used_at BIGINT NOT NULL DEFAULT 0);

-- +goose Down
