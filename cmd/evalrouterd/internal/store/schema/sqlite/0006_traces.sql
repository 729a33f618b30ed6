-- +goose Up
-- Traces of agents. A trace's number stands for its id in the tables below it,
-- whose keys begin with it: what belongs to a trace stands together, whatever
-- its sender calls it, and goes with it.
CREATE TABLE trace_connections (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('sdk', 'otlp', 'langsmith')), capture_doc TEXT NOT NULL, days INTEGER NOT NULL CHECK (days > 0),
  actor TEXT NOT NULL, created_at INTEGER NOT NULL, disabled_at INTEGER NOT NULL DEFAULT 0, received_at INTEGER NOT NULL DEFAULT 0,
  traces INTEGER NOT NULL DEFAULT 0 CHECK (traces >= 0)) STRICT;
CREATE INDEX trace_connections_workspace ON trace_connections (workspace_id, created_at, id);
CREATE INDEX api_keys_connection ON api_keys (connection_id) WHERE connection_id <> '';

CREATE TABLE traces (
  num INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  connection_id TEXT NOT NULL REFERENCES trace_connections (id), source TEXT NOT NULL, source_id TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1, digest TEXT NOT NULL DEFAULT '', partial INTEGER NOT NULL DEFAULT 0, reasons_doc TEXT NOT NULL DEFAULT '[]', labels_doc TEXT NOT NULL DEFAULT '[]',
  name TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('ok', 'error', 'open')), error_type TEXT NOT NULL DEFAULT '', error_text TEXT NOT NULL DEFAULT '',
  agent TEXT NOT NULL DEFAULT '', conversation TEXT NOT NULL DEFAULT '', start_ns INTEGER NOT NULL DEFAULT 0, end_ns INTEGER NOT NULL DEFAULT 0, root_ended INTEGER NOT NULL DEFAULT 0,
  orphans INTEGER NOT NULL DEFAULT 0, spans INTEGER NOT NULL DEFAULT 0, model_calls INTEGER NOT NULL DEFAULT 0, tool_calls INTEGER NOT NULL DEFAULT 0,
  models_doc TEXT NOT NULL DEFAULT '[]', tools_doc TEXT NOT NULL DEFAULT '[]',
  input_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER, reasoning_tokens INTEGER, cost INTEGER,
  inputs INTEGER NOT NULL DEFAULT 0, outputs INTEGER NOT NULL DEFAULT 0, inputs_cut INTEGER NOT NULL DEFAULT 0, outputs_cut INTEGER NOT NULL DEFAULT 0,
  redacted INTEGER NOT NULL DEFAULT 0, findings INTEGER NOT NULL DEFAULT 0, held INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  UNIQUE (connection_id, source_id)) STRICT;
CREATE INDEX traces_workspace ON traces (workspace_id, start_ns, num);
CREATE INDEX traces_status ON traces (workspace_id, status, start_ns, num);
CREATE INDEX traces_connection ON traces (connection_id, start_ns, num);
CREATE INDEX traces_expire ON traces (expires_at);

-- body is input, output and attributes in pieces (store/traces): bytes as they
-- are, and the hashes of contents, which a trace keeps once each. Rows are large:
-- WITHOUT ROWID would put most of each on a page of its own.
CREATE TABLE spans (
  trace INTEGER NOT NULL REFERENCES traces (num), id TEXT NOT NULL, parent_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
  error_type TEXT NOT NULL, error_text TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
  input_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER, reasoning_tokens INTEGER, cost INTEGER,
  body BLOB NOT NULL, flags INTEGER NOT NULL, weight INTEGER NOT NULL,
  PRIMARY KEY (trace, id)) STRICT;
CREATE TABLE trace_contents (
  trace INTEGER NOT NULL REFERENCES traces (num), hash BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY (trace, hash)) STRICT;

-- Rules that look at traces, and what they found. A finding is one for all traces
-- that show it.
CREATE TABLE trace_evaluators (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, rule TEXT NOT NULL, config_doc TEXT NOT NULL, severity TEXT NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0, revision INTEGER NOT NULL, created_at INTEGER NOT NULL, UNIQUE (workspace_id, name)) STRICT;
CREATE TABLE trace_findings (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), evaluator_id TEXT NOT NULL REFERENCES trace_evaluators (id), fingerprint TEXT NOT NULL,
  title TEXT NOT NULL, detail TEXT NOT NULL, severity TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('open', 'confirmed', 'dismissed', 'fixed')),
  seen INTEGER NOT NULL, recurred INTEGER NOT NULL DEFAULT 0, trace_id TEXT NOT NULL, span_id TEXT NOT NULL, note TEXT NOT NULL DEFAULT '',
  first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, UNIQUE (evaluator_id, fingerprint)) STRICT;
CREATE INDEX trace_findings_workspace ON trace_findings (workspace_id, last_at, id);
CREATE TABLE trace_occurrences (
  finding_id TEXT NOT NULL REFERENCES trace_findings (id), trace_id TEXT NOT NULL, span_id TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (finding_id, trace_id)) STRICT, WITHOUT ROWID;
CREATE INDEX trace_occurrences_trace ON trace_occurrences (trace_id);

-- +goose Down
DROP TABLE trace_occurrences;
DROP TABLE trace_findings;
DROP TABLE trace_evaluators;
DROP TABLE trace_contents;
DROP TABLE spans;
DROP TABLE traces;
DROP INDEX api_keys_connection;
DROP TABLE trace_connections;
