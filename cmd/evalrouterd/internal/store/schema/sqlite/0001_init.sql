-- +goose Up
CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT;

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 1,
  practice INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL) STRICT;

-- The ledger: every transfer takes from one account and gives to another, so
-- that the balances of a workspace always sum to zero.
CREATE TABLE ledger_accounts (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  book TEXT NOT NULL CHECK (book IN ('credit', 'practice')),
  kind TEXT NOT NULL CHECK (kind IN ('available', 'held', 'spent', 'grant', 'absorbed', 'provider')),
  balance INTEGER NOT NULL DEFAULT 0, allow_negative INTEGER NOT NULL DEFAULT 0,
  UNIQUE (workspace_id, book, kind), CHECK (allow_negative = 1 OR balance >= 0)) STRICT;

CREATE TABLE transfers (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, debit TEXT NOT NULL REFERENCES ledger_accounts (id),
  credit TEXT NOT NULL REFERENCES ledger_accounts (id), amount INTEGER NOT NULL CHECK (amount > 0), code TEXT NOT NULL,
  run_id TEXT, call_id TEXT, note TEXT NOT NULL DEFAULT '', created_at INTEGER NOT NULL, CHECK (debit <> credit)) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX transfers_once_call ON transfers (call_id, code) WHERE call_id IS NOT NULL;
CREATE INDEX transfers_run ON transfers (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX transfers_workspace ON transfers (workspace_id, created_at, id);

CREATE TABLE profiles (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL DEFAULT '', slug TEXT NOT NULL, version TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('staging', 'candidate', 'active', 'quarantined', 'retired')),
  claim TEXT NOT NULL DEFAULT '',
  task_count INTEGER NOT NULL, manifest_sha256 TEXT NOT NULL, doc TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, slug, version)) STRICT;
CREATE TABLE tasks (
  profile_id TEXT NOT NULL REFERENCES profiles (id), pos INTEGER NOT NULL, task_id TEXT NOT NULL, doc TEXT NOT NULL,
  PRIMARY KEY (profile_id, pos), UNIQUE (profile_id, task_id)) STRICT, WITHOUT ROWID;

CREATE TABLE price_books (
  id TEXT PRIMARY KEY, route_id TEXT NOT NULL, valid_from INTEGER NOT NULL, doc TEXT NOT NULL) STRICT;

CREATE TABLE connections (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, base_url TEXT NOT NULL,
  model_id TEXT NOT NULL, protocol TEXT NOT NULL, revision INTEGER NOT NULL, key_sealed BLOB, key_version INTEGER NOT NULL,
  max_output_tokens INTEGER NOT NULL, context_window INTEGER NOT NULL, max_concurrency INTEGER NOT NULL DEFAULT 0,
  price_in INTEGER, price_out INTEGER, check_doc TEXT NOT NULL DEFAULT '{}', created_at INTEGER NOT NULL,
  checked_at INTEGER NOT NULL DEFAULT 0, disabled_at INTEGER NOT NULL DEFAULT 0,
  CHECK ((price_in IS NULL) = (price_out IS NULL))) STRICT;
CREATE INDEX connections_workspace ON connections (workspace_id, created_at, id);

CREATE TABLE quotes (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), epoch INTEGER NOT NULL, source_run_id TEXT,
  scope_hash TEXT NOT NULL, price_id TEXT NOT NULL, cap INTEGER NOT NULL CHECK (cap > 0), min_cap INTEGER NOT NULL,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, consumed_by TEXT, doc TEXT NOT NULL) STRICT;

CREATE TABLE idempotency (
  workspace_id TEXT NOT NULL, op TEXT NOT NULL, key TEXT NOT NULL, request_hash TEXT NOT NULL, status INTEGER NOT NULL,
  body TEXT NOT NULL, run_id TEXT, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, op, key)) STRICT;

CREATE TABLE groups_ (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, quote_id TEXT NOT NULL UNIQUE, source_group_id TEXT UNIQUE,
  name TEXT NOT NULL, metadata TEXT NOT NULL DEFAULT '{}', cap INTEGER NOT NULL CHECK (cap > 0), next_seq INTEGER NOT NULL DEFAULT 1, created_at INTEGER NOT NULL) STRICT;
CREATE INDEX groups_workspace ON groups_ (workspace_id, created_at, id);

-- num is what the tables with a row a task or call name a run by: their keys
-- are most of what a run writes.
CREATE TABLE runs (
  num INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL REFERENCES workspaces (id), group_id TEXT REFERENCES groups_ (id),
  quote_id TEXT NOT NULL UNIQUE REFERENCES quotes (id), source_run_id TEXT UNIQUE, chain_root TEXT NOT NULL,
  chain_pos INTEGER NOT NULL, scope_hash TEXT NOT NULL, name TEXT NOT NULL, metadata TEXT NOT NULL DEFAULT '{}',
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'stopping', 'finalizing', 'completed', 'partial', 'failed', 'cancelled')),
  stop_reason TEXT NOT NULL DEFAULT '', stop_detail TEXT NOT NULL DEFAULT '', book TEXT NOT NULL, cap INTEGER NOT NULL, held INTEGER NOT NULL,
  charged INTEGER NOT NULL DEFAULT 0, metered INTEGER NOT NULL DEFAULT 0, reserved INTEGER NOT NULL DEFAULT 0,
  waived INTEGER NOT NULL DEFAULT 0, absorbed INTEGER NOT NULL DEFAULT 0, unreported INTEGER NOT NULL DEFAULT 0,
  hold_released INTEGER NOT NULL DEFAULT 0, planned INTEGER NOT NULL, next_seq INTEGER NOT NULL DEFAULT 1,
  profile_id TEXT NOT NULL, target TEXT NOT NULL, created_at INTEGER NOT NULL, started_at INTEGER NOT NULL DEFAULT 0,
  cancel_requested_at INTEGER NOT NULL DEFAULT 0, ended_at INTEGER NOT NULL DEFAULT 0, retry_at INTEGER NOT NULL DEFAULT 0,
  waiting_reason TEXT NOT NULL DEFAULT '', raw_expired INTEGER NOT NULL DEFAULT 0,
  owner TEXT NOT NULL DEFAULT '', fence INTEGER NOT NULL DEFAULT 0, lease_until INTEGER NOT NULL DEFAULT 0,
  restored_at INTEGER NOT NULL DEFAULT 0,
  UNIQUE (chain_root, chain_pos),
  CHECK (charged >= 0 AND metered >= 0 AND reserved >= 0 AND charged + metered + reserved <= cap),
  CHECK (charged <= held)) STRICT;
CREATE INDEX runs_workspace ON runs (workspace_id, created_at, id);
CREATE INDEX runs_answers ON runs (created_at) WHERE raw_expired = 0;
CREATE INDEX runs_live ON runs (state) WHERE state IN ('queued', 'running', 'stopping', 'finalizing');

CREATE TABLE tallies (
  run_id TEXT NOT NULL REFERENCES runs (id), outcome TEXT NOT NULL, n INTEGER NOT NULL CHECK (n >= 0),
  PRIMARY KEY (run_id, outcome)) STRICT, WITHOUT ROWID;

-- Sparse: a task has a row once it has left planned. A list of words in a CHECK
-- is written out because SQLite builds a table for IN at every statement. pledged is what is set
-- aside for its judges and not yet in a call. In a continuation, source_run and
-- source_call_id name the run and the call whose answer a task took over, or
-- whose outcome it waits for.
CREATE TABLE samples (
  run INTEGER NOT NULL REFERENCES runs (num), idx INTEGER NOT NULL, task_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state = 'in_call' OR state = 'graded' OR state = 'planned' OR state = 'judging' OR state = 'answered' OR state = 'unresolved'
    OR state = 'failed' OR state = 'refused' OR state = 'cancelled' OR state = 'left_out' OR state = 'pending'),
  outcome TEXT NOT NULL DEFAULT '', origin TEXT NOT NULL DEFAULT 'new'
    CHECK (origin = 'new' OR origin = 'reused' OR origin = 'saved_response' OR origin = 'unknown_retry'),
  source_run INTEGER, source_call_id TEXT, max_cost INTEGER NOT NULL, pledged INTEGER NOT NULL DEFAULT 0 CHECK (pledged >= 0), attempt INTEGER NOT NULL DEFAULT 0, charge INTEGER NOT NULL DEFAULT 0,
  score REAL, extracted TEXT NOT NULL DEFAULT '', span_from INTEGER, span_to INTEGER, rule TEXT NOT NULL DEFAULT '',
  grader TEXT NOT NULL DEFAULT '', grader_compat TEXT NOT NULL DEFAULT '', code TEXT NOT NULL DEFAULT '', started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run, idx)) STRICT, WITHOUT ROWID;
CREATE INDEX samples_waiting ON samples (run, idx) WHERE state = 'planned' OR state = 'judging' OR state = 'answered';

-- The journal of provider calls, written before each is made. live says that a
-- call has not ended; its index sees two changes a call, where one over the
-- states would see three. nonce is what fenced the answer in a judge's prompt.
CREATE TABLE calls (
  id TEXT NOT NULL, run INTEGER NOT NULL, idx INTEGER NOT NULL, kind TEXT NOT NULL DEFAULT 'target', part INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state = 'intent' OR state = 'sent' OR state = 'responded' OR state = 'rejected' OR state = 'voided' OR state = 'unknown' OR state = 'late'),
  live INTEGER NOT NULL DEFAULT 1 CHECK ((live = 1) = (state = 'intent' OR state = 'sent')),
  worker TEXT NOT NULL, fence INTEGER NOT NULL, lease_until INTEGER NOT NULL, reserved INTEGER NOT NULL,
  spent INTEGER NOT NULL DEFAULT 0, absorbed INTEGER NOT NULL DEFAULT 0, request_hash TEXT NOT NULL,
  usage_doc TEXT NOT NULL DEFAULT '', finish TEXT NOT NULL DEFAULT '', provider_request_id TEXT NOT NULL DEFAULT '',
  outcome TEXT NOT NULL DEFAULT '', message TEXT NOT NULL DEFAULT '', consent_id TEXT, created_at INTEGER NOT NULL,
  sent_at INTEGER NOT NULL DEFAULT 0, ended_at INTEGER NOT NULL DEFAULT 0, nonce TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (run, idx, kind, part, attempt), FOREIGN KEY (run, idx) REFERENCES samples (run, idx)) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX calls_one_live ON calls (run, idx, kind, part) WHERE live = 1;

-- Raw answers, by the call that paid for them: ids are time-ordered, so that
-- inserts append and what expires first stands first. hash is the SHA-256 of
-- the uncompressed bytes. An expired answer keeps its hash and size.
CREATE TABLE blobs (
  call_id TEXT PRIMARY KEY, hash TEXT NOT NULL, size INTEGER NOT NULL, codec TEXT NOT NULL, data BLOB,
  expires_at INTEGER NOT NULL, CHECK ((codec = 'expired') = (data IS NULL))) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  run INTEGER NOT NULL REFERENCES runs (num), seq INTEGER NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL, doc TEXT NOT NULL,
  PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;

CREATE TABLE results (
  run_id TEXT NOT NULL REFERENCES runs (id), version INTEGER NOT NULL, id TEXT NOT NULL, checksum TEXT NOT NULL, doc TEXT NOT NULL,
  PRIMARY KEY (run_id, version)) STRICT;

CREATE TABLE consents (
  id TEXT PRIMARY KEY, quote_id TEXT NOT NULL REFERENCES quotes (id),
  kind TEXT NOT NULL CHECK (kind IN ('start', 'left_out', 'include_cancelled', 'retry_unknown', 'duplicate_provider_charges')),
  actor TEXT NOT NULL, doc TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (quote_id, kind)) STRICT;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, prefix TEXT NOT NULL UNIQUE,
  mac BLOB NOT NULL, scopes TEXT NOT NULL, connection_id TEXT NOT NULL DEFAULT '', created_by TEXT NOT NULL DEFAULT '', lineage TEXT NOT NULL,
  ceiling INTEGER NOT NULL DEFAULT 0 CHECK (ceiling >= 0), created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL DEFAULT 0,
  revoked_at INTEGER NOT NULL DEFAULT 0, last_used_at INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX api_keys_workspace ON api_keys (workspace_id, created_at, id);
CREATE INDEX api_keys_lineage ON api_keys (lineage);

-- What workspaces bring: files in chunks, which go when a source fails or is
-- archived, imports of such files, and the benchmarks that are made of them.
CREATE TABLE benchmark_sources (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), file_name TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('jsonl', 'csv', 'parquet', 'package')), bytes INTEGER NOT NULL CHECK (bytes > 0), sha256 TEXT NOT NULL,
  received INTEGER NOT NULL DEFAULT 0 CHECK (received >= 0 AND received <= bytes), row_count INTEGER NOT NULL DEFAULT 0, columns_doc TEXT NOT NULL DEFAULT '[]',
  status TEXT NOT NULL CHECK (status IN ('pending', 'completed', 'failed', 'archived')), error_code TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '', uri TEXT NOT NULL,
  actor TEXT NOT NULL, created_at INTEGER NOT NULL, archived_at INTEGER NOT NULL DEFAULT 0, CHECK (status <> 'completed' OR received = bytes)) STRICT;
CREATE INDEX benchmark_sources_workspace ON benchmark_sources (workspace_id, created_at, id);
CREATE INDEX benchmark_sources_uri ON benchmark_sources (workspace_id, uri);
CREATE TABLE benchmark_source_chunks (
  source_id TEXT NOT NULL REFERENCES benchmark_sources (id), start INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (source_id, start)) STRICT;
CREATE TABLE benchmark_imports (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), source TEXT NOT NULL, paths_doc TEXT NOT NULL, commit_sha TEXT NOT NULL DEFAULT '',
  files_doc TEXT NOT NULL DEFAULT '[]', status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed')), error_code TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '',
  actor TEXT NOT NULL, created_at INTEGER NOT NULL, ended_at INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE private_benchmarks (
  profile_id TEXT PRIMARY KEY REFERENCES profiles (id), workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, task TEXT NOT NULL,
  source_uri TEXT NOT NULL, manifest_sha256 TEXT NOT NULL, task_count INTEGER NOT NULL, actor TEXT NOT NULL, created_at INTEGER NOT NULL,
  archived_at INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX private_benchmarks_workspace ON private_benchmarks (workspace_id, created_at, profile_id);

-- +goose Down
