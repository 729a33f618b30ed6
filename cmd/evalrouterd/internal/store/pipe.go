package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/phrase"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
)

// A statement to a database on the network costs a round trip, which is most of
// what it costs. The operations of a batch write far more than they read, and
// hardly any of their writes fails. So where the dialect has a pipe, what a
// booked operation writes is believed to succeed, and sent together with the
// writes of its batch before the commit. If one of them did not, the whole
// transaction is undone and made again with care, statement by statement, which
// finds the operation at fault.

// pipe sends statements together and gives the rows that each touched.
type pipe func(context.Context, *sql.Conn, []postgres.Statement) ([]int64, error)

// errCare says that a batch must be made again with care.
var errCare = errors.New("a write of a batch did not do what it was believed to")

// later queues a write where that is possible.
func (t *tx) later(q string, one bool, args []any) bool {
	if t.careful || !t.piped || t.w.dialect.pipe == nil {
		return false
	}
	t.waiting = append(t.waiting, postgres.Statement{Query: q, Args: phrase.Storable(args), One: one})
	return true
}

// put is exec for a write whose number of rows does not matter.
func (t *tx) put(q string, args ...any) error {
	if t.later(q, false, args) {
		return nil
	}
	_, err := t.exec(q, args...)
	return err
}

// flush sends what waits. An error is that of no operation in particular.
func (t *tx) flush() error {
	if len(t.waiting) == 0 {
		return nil
	}
	all := t.waiting
	t.waiting = nil
	touched, err := t.w.dialect.pipe(context.Background(), t.w.conn, all)
	if err != nil {
		return fmt.Errorf("%w: %w", errCare, err)
	}
	for i, s := range all {
		if s.One && touched[i] != 1 {
			return fmt.Errorf("%w: %d rows", errCare, touched[i])
		}
	}
	return nil
}
