// Package audit recomputes every promise of the store from calls, samples and
// transfers. It trusts no total that was kept, changes nothing, and knows
// nothing but the tables: it is the oracle of every test and of operators.
package audit

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Finding is one broken invariant.
type Finding struct {
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	Detail  string `json:"detail"`
}

// Reader reads one snapshot of a database.
type Reader interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// check is an invariant as a query for its violations: subject and detail.
type check struct {
	rule  string
	query string
}

// maxFindings bounds how many violations of one rule are listed.
const maxFindings = 20

// Run recomputes every invariant by one snapshot. It returns no finding for a
// healthy store.
func Run(ctx context.Context, q Reader) ([]Finding, error) {
	out := []Finding{}
	for _, c := range slices.Concat(checks, chains, kept) {
		found, err := c.run(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", c.rule, err)
		}
		out = append(out, found...)
	}
	for _, c := range []func(context.Context, Reader) ([]Finding, error){judges, results, blobs} {
		found, err := c(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (c check) run(ctx context.Context, q Reader) ([]Finding, error) {
	rows, err := q.QueryContext(ctx, fmt.Sprintf("%s LIMIT %d", c.query, maxFindings))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Finding
	for rows.Next() {
		f := Finding{Rule: c.rule}
		if err := rows.Scan(&f.Subject, &f.Detail); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, rows.Err()
}
