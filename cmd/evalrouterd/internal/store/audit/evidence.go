package audit

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// results recomputes each frozen result's checksum and holds its figures
// against the run.
func results(ctx context.Context, q Reader) (out []Finding, err error) {
	rows, err := q.QueryContext(ctx, `SELECT x.run_id, x.checksum, x.doc, r.state, r.cap, r.charged, r.metered, r.absorbed, r.waived, r.planned
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

// blobs recomputes the hash of every kept answer, one at a time.
func blobs(ctx context.Context, q Reader) (out []Finding, err error) {
	rows, err := q.QueryContext(ctx, `SELECT call_id, hash, size, data FROM blobs WHERE data IS NOT NULL`)
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

// judges holds the replies of each graded task against the judges that
// its quote froze: every one of them replied, and nobody else. An answer that is
// empty or was cut off has none.
func judges(ctx context.Context, q Reader) (out []Finding, err error) {
	panels, err := judgedRuns(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("check judges: %w", err)
	}
	for _, p := range panels {
		found, err := check{"sample.judges", fmt.Sprintf(`SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, 'graded without every judge of its panel, or with more'
			FROM samples s WHERE s.run = (SELECT num FROM runs WHERE id = '%s') AND s.state IN ('answered', 'graded') AND s.origin = 'new'
			AND NOT (s.outcome IN ('truncated', 'empty') AND s.score = 0 AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'judge')) AND (
			(SELECT count(*) FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'judge' AND c.state = 'responded') <> %[2]d OR
			coalesce((SELECT max(c.part) + 1 FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'judge'), 0) <> %[2]d)`,
			strings.ReplaceAll(string(p.run), "'", "''"), p.judges)}.run(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("check judges: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// panel is a run with the number of its judges.
type panel struct {
	run    core.RunID
	judges int
}

// judgedRuns lists the runs whose quotes have judges or whose calls say so.
func judgedRuns(ctx context.Context, q Reader) (out []panel, err error) {
	rows, err := q.QueryContext(ctx, `SELECT r.id, q.doc FROM runs r JOIN quotes q ON q.id = r.quote_id
		WHERE q.doc LIKE '%"judges":%' OR EXISTS (SELECT 1 FROM calls c WHERE c.run = r.num AND c.kind = 'judge') ORDER BY r.id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id core.RunID
		var doc string
		if err := rows.Scan(&id, &doc); err != nil {
			return nil, err
		}
		var q core.Quote
		if err := json.Unmarshal([]byte(doc), &q); err != nil {
			return nil, fmt.Errorf("read the quote of run %s: %w", id, err)
		}
		out = append(out, panel{id, len(q.Judges)})
	}
	return out, rows.Err()
}
