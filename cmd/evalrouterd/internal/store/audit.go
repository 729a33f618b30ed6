package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/audit"
)

// Audit recomputes every invariant. It returns no finding for a healthy store.
func (s *Store) Audit(ctx context.Context) ([]audit.Finding, error) {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: s.dialect.snapshot})
	if err != nil {
		return nil, fmt.Errorf("begin audit: %w", err)
	}
	defer tx.Rollback()
	if s.dialect.patient != "" {
		if _, err := tx.ExecContext(ctx, s.dialect.patient); err != nil {
			return nil, fmt.Errorf("begin audit: %w", err)
		}
	}
	return audit.Run(ctx, tx)
}
