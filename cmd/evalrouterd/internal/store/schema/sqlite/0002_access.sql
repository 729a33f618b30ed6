-- +goose Up
CREATE TABLE users (
  id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, password TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'disabled')), verified_by TEXT NOT NULL CHECK (verified_by IN ('mail', 'operator')),
  created_at INTEGER NOT NULL) STRICT;

CREATE TABLE registrations (
  id TEXT PRIMARY KEY, browser_mac BLOB NOT NULL UNIQUE, email TEXT NOT NULL, name TEXT NOT NULL, password TEXT NOT NULL,
  code_mac BLOB, tries INTEGER NOT NULL DEFAULT 0, address TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL) STRICT;
CREATE INDEX registrations_email ON registrations (email);

CREATE TABLE memberships (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id), user_id TEXT NOT NULL REFERENCES users (id),
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')), created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, user_id)) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_user ON memberships (user_id, created_at);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')), invited_by TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, ended_at INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email) WHERE ended_at = 0;
CREATE INDEX invitations_email ON invitations (email) WHERE ended_at = 0;

CREATE TABLE web_sessions (
  id TEXT PRIMARY KEY, mac BLOB NOT NULL UNIQUE, user_id TEXT NOT NULL REFERENCES users (id), proved_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL, used_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, address TEXT NOT NULL) STRICT;
CREATE INDEX web_sessions_user ON web_sessions (user_id);

-- A grant is one sign-in of a command line; its tokens live and end with it.
-- salt is what the successor of a refresh token was derived with.
CREATE TABLE grants (
  id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), client TEXT NOT NULL, device_name TEXT NOT NULL,
  flow TEXT NOT NULL CHECK (flow IN ('browser', 'device')), scopes TEXT NOT NULL, address TEXT NOT NULL, created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, revoked_at INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX grants_user ON grants (user_id, created_at);
CREATE TABLE refresh_tokens (
  mac BLOB PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES grants (id), gen INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL DEFAULT 0, salt BLOB, UNIQUE (grant_id, gen), CHECK ((used_at = 0) = (salt IS NULL))) STRICT;
CREATE TABLE access_tokens (
  prefix TEXT PRIMARY KEY, mac BLOB NOT NULL, grant_id TEXT NOT NULL REFERENCES grants (id), expires_at INTEGER NOT NULL) STRICT;
CREATE INDEX access_tokens_expiry ON access_tokens (expires_at);
CREATE TABLE auth_codes (
  mac BLOB PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), client TEXT NOT NULL, redirect TEXT NOT NULL, challenge TEXT NOT NULL,
  scopes TEXT NOT NULL, address TEXT NOT NULL, expires_at INTEGER NOT NULL, used_at INTEGER NOT NULL DEFAULT 0, grant_id TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE device_requests (
  id TEXT PRIMARY KEY, device_mac BLOB NOT NULL UNIQUE, user_mac BLOB NOT NULL UNIQUE, client TEXT NOT NULL, version TEXT NOT NULL, name TEXT NOT NULL,
  scopes TEXT NOT NULL, address TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'redeemed')),
  stage TEXT NOT NULL, user_id TEXT NOT NULL DEFAULT '', poll_every INTEGER NOT NULL, polled_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, CHECK (state = 'pending' OR user_id <> '')) STRICT;

-- What keys have spent is found by who consented.
CREATE INDEX consents_actor ON consents (actor) WHERE kind = 'start';

-- Who changed what about access. Lines are added and never changed.
CREATE TABLE access_log (
  id TEXT PRIMARY KEY, at INTEGER NOT NULL, workspace_id TEXT NOT NULL, actor TEXT NOT NULL, address TEXT NOT NULL,
  action TEXT NOT NULL, subject TEXT NOT NULL, detail TEXT NOT NULL) STRICT;
CREATE INDEX access_log_at ON access_log (at, id);
-- +goose StatementBegin
CREATE TRIGGER access_log_keeps BEFORE UPDATE ON access_log BEGIN SELECT RAISE(ABORT, 'the log of changes is only added to'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER access_log_stays BEFORE DELETE ON access_log BEGIN SELECT RAISE(ABORT, 'the log of changes is only added to'); END;
-- +goose StatementEnd

-- +goose Down
