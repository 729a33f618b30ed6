-- +goose Up
-- Datasets: items with all of their revisions, reviews that are of a digest, and
-- versions that never change.
CREATE TABLE datasets (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id), name TEXT NOT NULL, description TEXT NOT NULL,
  reviewers INTEGER NOT NULL CHECK (reviewers > 0), allow_self INTEGER NOT NULL, actor TEXT NOT NULL, created_at INTEGER NOT NULL, archived_at INTEGER NOT NULL DEFAULT 0,
  latest INTEGER NOT NULL DEFAULT 0, UNIQUE (workspace_id, name)) STRICT;
CREATE TABLE dataset_items (
  id TEXT PRIMARY KEY, dataset_id TEXT NOT NULL REFERENCES datasets (id), revision INTEGER NOT NULL, digest TEXT NOT NULL, source_doc TEXT NOT NULL DEFAULT '',
  review TEXT NOT NULL DEFAULT 'pending' CHECK (review IN ('pending', 'approved', 'rejected')), withdrawn INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX dataset_items_digest ON dataset_items (dataset_id, digest) WHERE withdrawn = 0;
CREATE INDEX dataset_items_dataset ON dataset_items (dataset_id, created_at, id);
CREATE TABLE dataset_revisions (
  item_id TEXT NOT NULL REFERENCES dataset_items (id), revision INTEGER NOT NULL, digest TEXT NOT NULL, input TEXT NOT NULL, expected TEXT, metadata TEXT,
  author TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (item_id, revision)) STRICT;
CREATE TABLE dataset_reviews (
  item_id TEXT NOT NULL REFERENCES dataset_items (id), digest TEXT NOT NULL, reviewer TEXT NOT NULL, verdict TEXT NOT NULL CHECK (verdict IN ('approved', 'rejected')),
  note TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (item_id, digest, reviewer)) STRICT, WITHOUT ROWID;
CREATE TABLE dataset_versions (
  dataset_id TEXT NOT NULL REFERENCES datasets (id), version INTEGER NOT NULL, sha256 TEXT NOT NULL, items INTEGER NOT NULL, added INTEGER NOT NULL, changed INTEGER NOT NULL, removed INTEGER NOT NULL,
  left_out INTEGER NOT NULL, note TEXT NOT NULL, actor TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (dataset_id, version)) STRICT, WITHOUT ROWID;
CREATE TABLE dataset_version_items (
  dataset_id TEXT NOT NULL, version INTEGER NOT NULL, pos INTEGER NOT NULL, item_id TEXT NOT NULL, revision INTEGER NOT NULL, digest TEXT NOT NULL, source_doc TEXT NOT NULL,
  PRIMARY KEY (dataset_id, version, pos), FOREIGN KEY (dataset_id, version) REFERENCES dataset_versions (dataset_id, version),
  FOREIGN KEY (item_id, revision) REFERENCES dataset_revisions (item_id, revision)) STRICT, WITHOUT ROWID;
CREATE TABLE dataset_retractions (
  dataset_id TEXT NOT NULL, version INTEGER NOT NULL, reason TEXT NOT NULL, actor TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (dataset_id, version), FOREIGN KEY (dataset_id, version) REFERENCES dataset_versions (dataset_id, version)) STRICT, WITHOUT ROWID;

-- The database itself keeps what is sealed.
-- +goose StatementBegin
CREATE TRIGGER dataset_revisions_no_update BEFORE UPDATE ON dataset_revisions BEGIN SELECT RAISE(ABORT, 'dataset_revisions is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_revisions_no_delete BEFORE DELETE ON dataset_revisions BEGIN SELECT RAISE(ABORT, 'dataset_revisions is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_versions_no_update BEFORE UPDATE ON dataset_versions BEGIN SELECT RAISE(ABORT, 'dataset_versions is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_versions_no_delete BEFORE DELETE ON dataset_versions BEGIN SELECT RAISE(ABORT, 'dataset_versions is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_version_items_no_update BEFORE UPDATE ON dataset_version_items BEGIN SELECT RAISE(ABORT, 'dataset_version_items is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_version_items_no_delete BEFORE DELETE ON dataset_version_items BEGIN SELECT RAISE(ABORT, 'dataset_version_items is never changed'); END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE dataset_retractions;
DROP TABLE dataset_version_items;
DROP TABLE dataset_versions;
DROP TABLE dataset_reviews;
DROP TABLE dataset_revisions;
DROP TABLE dataset_items;
DROP TABLE datasets;
