-- +goose Up
-- Answers of reused tasks that were graded again when a continuation ended, and
-- got another score than the run that asked had given. replayed is NULL where
-- they got none.
CREATE TABLE reuse_mismatches (
  run INTEGER NOT NULL REFERENCES runs (num), idx INTEGER NOT NULL, original REAL NOT NULL, replayed REAL,
  PRIMARY KEY (run, idx)) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE reuse_mismatches;
