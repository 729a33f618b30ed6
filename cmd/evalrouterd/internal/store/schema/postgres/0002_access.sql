-- +goose Up
CREATE TABLE users (
  id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, password TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'disabled')), verified_by TEXT NOT NULL CHECK (verified_by IN ('mail', 'operator')),
  created_at BIGINT NOT NULL);

CREATE TABLE registrations (
  id TEXT PRIMARY KEY, browser_mac BYTEA NOT NULL UNIQUE, email TEXT NOT NULL, name TEXT NOT NULL, password TEXT NOT NULL,
  code_mac BYTEA, tries BIGINT NOT NULL DEFAULT 0, address TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL);
CREATE INDEX registrations_email ON registrations (email);

CREATE TABLE memberships (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id), user_id TEXT NOT NULL REFERENCES users (id),
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')), created_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, user_id));
CREATE INDEX memberships_user ON memberships (user_id, created_at);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')), invited_by TEXT NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, ended_at BIGINT NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX invitations_open ON invitations (workspace_id, email) WHERE ended_at = 0;
CREATE INDEX invitations_email ON invitations (email) WHERE ended_at = 0;

CREATE TABLE web_sessions (
  id TEXT PRIMARY KEY, mac BYTEA NOT NULL UNIQUE, user_id TEXT NOT NULL REFERENCES users (id), proved_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL, used_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, address TEXT NOT NULL);
CREATE INDEX web_sessions_user ON web_sessions (user_id);

-- A grant is one sign-in of a command line; its tokens live and end with it.
-- salt is what the successor of a refresh token was derived with.
CREATE TABLE grants (
  id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), client TEXT NOT NULL, device_name TEXT NOT NULL,
  flow TEXT NOT NULL CHECK (flow IN ('browser', 'device')), scopes TEXT NOT NULL, address TEXT NOT NULL, created_at BIGINT NOT NULL,
  used_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, revoked_at BIGINT NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '');
CREATE INDEX grants_user ON grants (user_id, created_at);
CREATE TABLE refresh_tokens (
  mac BYTEA PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES grants (id), gen BIGINT NOT NULL, expires_at BIGINT NOT NULL,
  used_at BIGINT NOT NULL DEFAULT 0, salt BYTEA, UNIQUE (grant_id, gen), CHECK ((used_at = 0) = (salt IS NULL)));
CREATE TABLE access_tokens (
  prefix TEXT PRIMARY KEY, mac BYTEA NOT NULL, grant_id TEXT NOT NULL REFERENCES grants (id), expires_at BIGINT NOT NULL);
CREATE INDEX access_tokens_expiry ON access_tokens (expires_at);
CREATE TABLE auth_codes (
  mac BYTEA PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), client TEXT NOT NULL, redirect TEXT NOT NULL, challenge TEXT NOT NULL,
  scopes TEXT NOT NULL, address TEXT NOT NULL, expires_at BIGINT NOT NULL, used_at BIGINT NOT NULL DEFAULT 0, grant_id TEXT NOT NULL DEFAULT '');
CREATE TABLE device_requests (
  id TEXT PRIMARY KEY, device_mac BYTEA NOT NULL UNIQUE, user_mac BYTEA NOT NULL UNIQUE, client TEXT NOT NULL, version TEXT NOT NULL, name TEXT NOT NULL,
  scopes TEXT NOT NULL, address TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'redeemed')),
  stage TEXT NOT NULL, user_id TEXT NOT NULL DEFAULT '', poll_every BIGINT NOT NULL, polled_at BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, CHECK (state = 'pending' OR user_id <> ''));

-- What keys have spent is found by who consented.
CREATE INDEX consents_actor ON consents (actor) WHERE kind = 'start';

-- Who changed what about access. Lines are added and never changed.
CREATE TABLE access_log (
  id TEXT PRIMARY KEY, at BIGINT NOT NULL, workspace_id TEXT NOT NULL, actor TEXT NOT NULL, address TEXT NOT NULL,
  action TEXT NOT NULL, subject TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX access_log_at ON access_log (at, id);
-- +goose StatementBegin
CREATE FUNCTION access_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the log of changes is only added to'; END $$;
-- +goose StatementEnd
CREATE TRIGGER access_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON access_log EXECUTE FUNCTION access_log_only_grows();

-- +goose Down
