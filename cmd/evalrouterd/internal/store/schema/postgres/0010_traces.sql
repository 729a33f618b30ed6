-- +goose Up
-- The contents of spans that came together stand in one piece: share is its
-- number in the trace, place which of it. 0 is a span that has its body to itself.
CREATE TABLE trace_shares (
  trace BIGINT NOT NULL REFERENCES traces (num), share BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (trace, share));
ALTER TABLE traces ADD COLUMN shares BIGINT NOT NULL DEFAULT 0;
ALTER TABLE spans ADD COLUMN share BIGINT NOT NULL DEFAULT 0;
ALTER TABLE spans ADD COLUMN place BIGINT NOT NULL DEFAULT 0;

-- What is compressed already is not compressed again.
ALTER TABLE trace_shares ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE trace_contents ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE spans ALTER COLUMN body SET STORAGE EXTERNAL;

-- folded is the name without regard to case.
ALTER TABLE traces ADD COLUMN folded TEXT NOT NULL DEFAULT '';
UPDATE traces SET folded = lower(name);

-- +goose Down
ALTER TABLE traces DROP COLUMN folded;
ALTER TABLE spans DROP COLUMN place;
ALTER TABLE spans DROP COLUMN share;
ALTER TABLE traces DROP COLUMN shares;
DROP TABLE trace_shares;
