-- +goose Up

-- What people and agents say about the product, in their own words.
CREATE TABLE feedback (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), actor TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('bug', 'docs', 'confusing_behavior')), severity TEXT NOT NULL CHECK (severity IN ('blocker', 'degraded', 'nice_to_have')),
  summary TEXT NOT NULL, details TEXT NOT NULL DEFAULT '', context_doc TEXT NOT NULL, contact_ok BIGINT NOT NULL DEFAULT 0, digest TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('received', 'triaged', 'resolved', 'declined')), duplicate_of TEXT NOT NULL DEFAULT '', created_at BIGINT NOT NULL);
CREATE INDEX feedback_workspace ON feedback (workspace_id, digest);
CREATE INDEX feedback_created ON feedback (created_at, id);

-- +goose Down
DROP TABLE feedback;
