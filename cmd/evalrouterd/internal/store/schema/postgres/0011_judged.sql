-- +goose Up
-- What a model said about traces: once of a trace by each revision of a judge.
-- Its cost is part of the run's.
CREATE TABLE trace_evaluations (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), trace_id TEXT NOT NULL, evaluator_id TEXT NOT NULL REFERENCES trace_evaluators (id), revision BIGINT NOT NULL,
  label TEXT NOT NULL CHECK (label IN ('pass', 'fail')), why TEXT NOT NULL, run_id TEXT NOT NULL, cost BIGINT NOT NULL CHECK (cost >= 0), at BIGINT NOT NULL,
  UNIQUE (evaluator_id, revision, trace_id));
CREATE INDEX trace_evaluations_trace ON trace_evaluations (trace_id, at, id);

-- +goose Down
DROP TABLE trace_evaluations;
