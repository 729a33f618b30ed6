package phrase

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// Direct is a statement prepared by the driver itself. Whoever owns a connection
// alone needs none of what database/sql does between a caller and a driver: the
// locks, the retries, and a list of arguments made anew at every use. It is for
// one goroutine, and for writes, whose arguments nobody keeps.
type Direct struct {
	conn   *sql.Conn
	stmt   driver.Stmt
	exec   driver.StmtExecContext
	order  []int
	values []driver.NamedValue
}

var errNoExec = errors.New("the driver runs no prepared statement with a context")

// PrepareDirect prepares a statement on a connection, which nobody else uses as
// long as the statement is used. order is which argument each parameter takes, nil
// where that is the one of its own number.
func PrepareDirect(ctx context.Context, c *sql.Conn, text string, order []int) (*Direct, error) {
	d := &Direct{conn: c, order: order}
	err := c.Raw(func(dc any) (err error) {
		in, ok := dc.(driver.ConnPrepareContext)
		if !ok {
			return errNoExec
		}
		if d.stmt, err = in.PrepareContext(ctx, text); err != nil {
			return err
		}
		if d.exec, ok = d.stmt.(driver.StmtExecContext); !ok {
			return errors.Join(errNoExec, d.stmt.Close())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Exec runs the statement and returns how many rows it touched.
func (d *Direct) Exec(ctx context.Context, args []any) (n int64, err error) {
	if err := d.take(args); err != nil {
		return 0, err
	}
	defer clear(d.values) // answers are large, and the next statement may be another one
	err = d.conn.Raw(func(any) error { // a driver's connection is to be used in here alone
		r, err := d.exec.ExecContext(ctx, d.values)
		if err == nil {
			n, err = r.RowsAffected()
		}
		return err
	})
	return n, err
}

func (d *Direct) take(args []any) error {
	n := len(args)
	if d.order != nil {
		n = len(d.order)
	}
	if cap(d.values) < n {
		d.values = make([]driver.NamedValue, n)
	}
	d.values = d.values[:n]
	for i := range d.values {
		at := i
		if d.order != nil {
			at = d.order[i]
		}
		v, err := value(args[at])
		if err != nil {
			return fmt.Errorf("argument %d: %w", at+1, err)
		}
		d.values[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return nil
}

// value is an argument as drivers take it.
func value(arg any) (driver.Value, error) {
	switch v := arg.(type) {
	case int64, string, []byte, nil:
		return v, nil
	case int:
		return int64(v), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(arg)
}

// Close lets go of the statement.
func (d *Direct) Close() error { return d.conn.Raw(func(any) error { return d.stmt.Close() }) }
