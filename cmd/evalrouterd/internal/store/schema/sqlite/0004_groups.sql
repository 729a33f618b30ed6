-- +goose Up
-- A quote of several models. Its members are quotes that only it can consume;
-- doc holds their ids in order.
CREATE TABLE group_quotes (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, cap INTEGER NOT NULL CHECK (cap > 0),
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, consumed_by TEXT, doc TEXT NOT NULL) STRICT;

CREATE TABLE group_members (
  group_id TEXT NOT NULL REFERENCES groups_ (id), pos INTEGER NOT NULL CHECK (pos >= 0 AND pos < 8), run_id TEXT NOT NULL UNIQUE REFERENCES runs (id),
  PRIMARY KEY (group_id, pos)) STRICT, WITHOUT ROWID;

-- In which order the events of a group's members were first told. It grows as
-- it is read, so that a run writes nothing more for being in a group.
CREATE TABLE group_log (
  group_id TEXT NOT NULL REFERENCES groups_ (id), seq INTEGER NOT NULL, run INTEGER NOT NULL, run_seq INTEGER NOT NULL,
  PRIMARY KEY (group_id, seq), UNIQUE (group_id, run, run_seq)) STRICT, WITHOUT ROWID;

-- +goose Down
