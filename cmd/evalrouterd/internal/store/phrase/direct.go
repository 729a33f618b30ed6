package phrase

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime/debug"
)

// Direct is a statement prepared by the driver itself. Whoever owns a connection
// alone needs little of what database/sql does between a caller and a driver:
// neither retries nor a list of arguments made anew at every use. It is for one
// goroutine, and for writes, whose arguments nobody keeps.
type Direct struct {
	conn   *sql.Conn
	stmt   driver.Stmt
	exec   driver.StmtExecContext
	order  []int
	values []driver.NamedValue
	gone   bool // the driver panicked in it
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
	defer func() { clear(d.values) }() // answers are large, and the next statement may be another one
	if err := d.take(args); err != nil {
		return 0, err
	}
	err = d.conn.Raw(func(any) (err error) { // a driver's connection is to be used in here alone
		n, err = d.run(ctx)
		return err
	})
	return n, err
}

// run makes a panic of the driver an error, and ends the statement: a panic that
// leaves Raw closes the connection under its statements, and one that is still
// running keeps the lock of its transaction for as long as the process lives.
func (d *Direct) run(ctx context.Context) (n int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(fmt.Errorf("the database's driver panicked: %v\n%s", p, debug.Stack()), d.stmt.Close())
			d.gone = true
		}
	}()
	r, err := d.exec.ExecContext(ctx, d.values)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
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

// Directs are the statements of one connection, by their texts.
type Directs map[string]*Direct

// Of is the statement of a text, prepared at its first use as bound writes it.
func (all Directs) Of(ctx context.Context, c *sql.Conn, q string, bound func(string) (text string, order []int)) (*Direct, error) {
	if d, ok := all[q]; ok && !d.gone {
		return d, nil
	}
	text, order := bound(q)
	d, err := PrepareDirect(ctx, c, text, order)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", q, err)
	}
	all[q] = d
	return d, nil
}

// Close lets go of all of them, while their connection is still there.
func (all Directs) Close() {
	for _, d := range all {
		d.Close() // it goes with its connection at the latest
	}
	clear(all)
}

// Close lets go of the statement.
func (d *Direct) Close() error {
	if d.gone {
		return nil
	}
	return d.conn.Raw(func(any) error { return d.stmt.Close() })
}
