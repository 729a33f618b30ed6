package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// auditResults recomputes each frozen result's checksum and holds its figures
// against the run.
func auditResults(ctx context.Context, tx *sql.Tx) (out []Finding, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT x.run_id, x.checksum, x.doc, r.state, r.cap, r.charged, r.metered, r.absorbed, r.waived, r.planned
		FROM results x JOIN runs r ON r.id = x.run_id ORDER BY x.run_id`)
	if err != nil {
		return nil, fmt.Errorf("check results: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, checksum, doc string
		var state core.State
		var money core.Money
		var planned int
		if err := rows.Scan(&id, &checksum, &doc, &state, &money.Cap, &money.Charged, &money.Metered, &money.Absorbed, &money.Waived, &planned); err != nil {
			return nil, err
		}
		var res core.Result
		switch err := json.Unmarshal([]byte(doc), &res); {
		case err != nil || res.Checksum() != checksum:
			out = append(out, Finding{"result.changed", id, "the frozen result is not what its checksum was made of"})
		case res.State != state || res.Money != money || res.Planned != planned || res.Outcomes.Total() != planned:
			out = append(out, Finding{"result.run", id, "the frozen result and the run do not agree"})
		}
	}
	return out, rows.Err()
}

// auditBlobs recomputes the hash of every kept answer, one at a time.
func auditBlobs(ctx context.Context, tx *sql.Tx) (out []Finding, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT call_id, hash, size, data FROM blobs WHERE data IS NOT NULL`)
	if err != nil {
		return nil, fmt.Errorf("check answers: %w", err)
	}
	defer rows.Close()
	var data sql.RawBytes
	for rows.Next() {
		var id, hash string
		var size int
		if err := rows.Scan(&id, &hash, &size, &data); err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(data); len(data) != size || hex.EncodeToString(sum[:]) != hash {
			out = append(out, Finding{"blob.changed", id, "the kept answer is not what its hash was made of"})
		}
	}
	return out, rows.Err()
}
