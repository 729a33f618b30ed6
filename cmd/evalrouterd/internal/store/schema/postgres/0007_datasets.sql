-- +goose Up
-- Datasets: items with all of their revisions, reviews that are of a digest, and
-- versions that never change.
CREATE TABLE datasets (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, description TEXT NOT NULL,
  reviewers BIGINT NOT NULL CHECK (reviewers > 0), allow_self BIGINT NOT NULL, actor TEXT NOT NULL, created_at BIGINT NOT NULL, archived_at BIGINT NOT NULL DEFAULT 0,
  latest BIGINT NOT NULL DEFAULT 0, UNIQUE (workspace_id, name));
CREATE TABLE dataset_items (
  id TEXT PRIMARY KEY, dataset_id TEXT NOT NULL REFERENCES datasets (id), revision BIGINT NOT NULL, digest TEXT NOT NULL, source_doc TEXT NOT NULL DEFAULT '',
  review TEXT NOT NULL DEFAULT 'pending' CHECK (review IN ('pending', 'approved', 'rejected')), withdrawn BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL);
CREATE UNIQUE INDEX dataset_items_digest ON dataset_items (dataset_id, digest) WHERE withdrawn = 0;
CREATE INDEX dataset_items_dataset ON dataset_items (dataset_id, created_at, id);
CREATE TABLE dataset_revisions (
  item_id TEXT NOT NULL REFERENCES dataset_items (id), revision BIGINT NOT NULL, digest TEXT NOT NULL, input TEXT NOT NULL, expected TEXT, metadata TEXT,
  author TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (item_id, revision));
CREATE TABLE dataset_reviews (
  item_id TEXT NOT NULL REFERENCES dataset_items (id), digest TEXT NOT NULL, reviewer TEXT NOT NULL, verdict TEXT NOT NULL CHECK (verdict IN ('approved', 'rejected')),
  note TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (item_id, digest, reviewer));
CREATE TABLE dataset_versions (
  dataset_id TEXT NOT NULL REFERENCES datasets (id), version BIGINT NOT NULL, sha256 TEXT NOT NULL, items BIGINT NOT NULL, added BIGINT NOT NULL, changed BIGINT NOT NULL, removed BIGINT NOT NULL,
  left_out BIGINT NOT NULL, note TEXT NOT NULL, actor TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (dataset_id, version));
CREATE TABLE dataset_version_items (
  dataset_id TEXT NOT NULL, version BIGINT NOT NULL, pos BIGINT NOT NULL, item_id TEXT NOT NULL, revision BIGINT NOT NULL, digest TEXT NOT NULL, source_doc TEXT NOT NULL,
  PRIMARY KEY (dataset_id, version, pos), FOREIGN KEY (dataset_id, version) REFERENCES dataset_versions (dataset_id, version),
  FOREIGN KEY (item_id, revision) REFERENCES dataset_revisions (item_id, revision));
CREATE TABLE dataset_retractions (
  dataset_id TEXT NOT NULL, version BIGINT NOT NULL, reason TEXT NOT NULL, actor TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (dataset_id, version), FOREIGN KEY (dataset_id, version) REFERENCES dataset_versions (dataset_id, version));

-- The database itself keeps what is sealed.
-- +goose StatementBegin
CREATE FUNCTION dataset_sealed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '% is never changed', TG_TABLE_NAME; END $$;
-- +goose StatementEnd
CREATE TRIGGER dataset_revisions_sealed BEFORE UPDATE OR DELETE ON dataset_revisions FOR EACH ROW EXECUTE FUNCTION dataset_sealed();
CREATE TRIGGER dataset_versions_sealed BEFORE UPDATE OR DELETE ON dataset_versions FOR EACH ROW EXECUTE FUNCTION dataset_sealed();
CREATE TRIGGER dataset_version_items_sealed BEFORE UPDATE OR DELETE ON dataset_version_items FOR EACH ROW EXECUTE FUNCTION dataset_sealed();

-- +goose Down
DROP TABLE dataset_retractions;
DROP TABLE dataset_version_items;
DROP TABLE dataset_versions;
DROP TABLE dataset_reviews;
DROP TABLE dataset_revisions;
DROP TABLE dataset_items;
DROP TABLE datasets;
DROP FUNCTION dataset_sealed;
