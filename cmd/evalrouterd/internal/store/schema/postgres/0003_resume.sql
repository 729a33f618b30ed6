-- +goose Up
-- Answers of reused tasks that were graded again when a continuation ended, and
-- got another score than the run that asked had given. replayed is NULL where
-- they got none.
CREATE TABLE reuse_mismatches (
  run BIGINT NOT NULL REFERENCES runs (num), idx BIGINT NOT NULL, original DOUBLE PRECISION NOT NULL, replayed DOUBLE PRECISION,
  PRIMARY KEY (run, idx));

-- +goose Down
DROP TABLE reuse_mismatches;
