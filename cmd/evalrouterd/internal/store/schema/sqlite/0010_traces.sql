-- +goose Up
-- The contents of spans that came together stand in one piece: share is its
-- number in the trace, place which of it. 0 is a span that has its body to itself.
-- Rows are large: no WITHOUT ROWID.
CREATE TABLE trace_shares (
  trace INTEGER NOT NULL REFERENCES traces (num), share INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (trace, share)) STRICT;
ALTER TABLE traces ADD COLUMN shares INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spans ADD COLUMN share INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spans ADD COLUMN place INTEGER NOT NULL DEFAULT 0;

-- A list reads its filters from the index that has its order, and of the wide
-- rows only what it shows: a filter that nothing matches reads them all. folded
-- is the name without regard to case.
ALTER TABLE traces ADD COLUMN folded TEXT NOT NULL DEFAULT '';
UPDATE traces SET folded = lower(name);
DROP INDEX traces_workspace;
CREATE INDEX traces_listed ON traces (workspace_id, start_ns, num, folded, models_doc, tools_doc, end_ns, status, connection_id, spans, findings);

-- +goose Down
DROP INDEX traces_listed;
CREATE INDEX traces_workspace ON traces (workspace_id, start_ns, num);
ALTER TABLE traces DROP COLUMN folded;
ALTER TABLE spans DROP COLUMN place;
ALTER TABLE spans DROP COLUMN share;
ALTER TABLE traces DROP COLUMN shares;
DROP TABLE trace_shares;
