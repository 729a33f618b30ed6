-- +goose Up
-- The contents of spans that came together stand in one piece: share is its
-- number in the trace, place which of it. 0 is a span that has its body to itself.
-- Rows are large: no WITHOUT ROWID.
CREATE TABLE trace_shares (
  trace INTEGER NOT NULL REFERENCES traces (num), share INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (trace, share)) STRICT;
ALTER TABLE traces ADD COLUMN shares INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spans ADD COLUMN share INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spans ADD COLUMN place INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE spans DROP COLUMN place;
ALTER TABLE spans DROP COLUMN share;
ALTER TABLE traces DROP COLUMN shares;
DROP TABLE trace_shares;
