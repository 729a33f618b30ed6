package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// copyTable streams one table and compares the numbers of rows.
func copyTable(ctx context.Context, from *sql.Tx, conn *sql.Conn, table string) (int64, error) {
	rows, err := from.QueryContext(ctx, "SELECT * FROM "+table)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	var copied int64
	err = conn.Raw(func(driver any) error {
		copied, err = driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, &rowSource{rows: rows, width: len(columns)})
		return err
	})
	if err != nil {
		return copied, err
	}
	var had, has int64
	if err := from.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&had); err != nil {
		return copied, err
	}
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&has); err != nil {
		return copied, err
	}
	if had != has || has != copied {
		return copied, fmt.Errorf("%d rows of %d arrived", has, had)
	}
	return copied, nil
}

// rowSource feeds COPY from a query, one row at a time.
type rowSource struct {
	rows  *sql.Rows
	width int
}

// Next goes to the next row.
func (r *rowSource) Next() bool { return r.rows.Next() }

// Values are the columns of the row.
func (r *rowSource) Values() ([]any, error) {
	v := make([]any, r.width)
	at := make([]any, r.width)
	for i := range v {
		at[i] = &v[i]
	}
	return v, r.rows.Scan(at...)
}

// Err is why the rows ended early.
func (r *rowSource) Err() error { return r.rows.Err() }
