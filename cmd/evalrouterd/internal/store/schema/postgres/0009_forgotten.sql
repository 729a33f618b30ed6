-- +goose Up
-- Passwords that were forgotten: a mailed code sets another one, in the browser
-- that asked. Whoever has no account has a row too, with a code that nobody has.
CREATE TABLE password_resets (
  id TEXT PRIMARY KEY, browser_mac BYTEA NOT NULL UNIQUE, email TEXT NOT NULL, code_mac BYTEA NOT NULL, tries BIGINT NOT NULL DEFAULT 0,
  address TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL);
CREATE INDEX password_resets_email ON password_resets (email);

-- Quotes that can still be accepted are counted before another one is kept.
CREATE INDEX quotes_open ON quotes (workspace_id, expires_at) WHERE consumed_by IS NULL;

-- +goose Down
