package store

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// books are the running figures that the operations of one transaction share:
// what a run has spent, its next event, its tallies and the balances of the
// ledger. A batch of calls touches the same few rows hundreds of times; here
// each is read once, changed in memory under the conditions of its table, and
// written once before the commit, whose constraints are the last word.
//
// Operations that only use them may share them (writer.book). Before any other
// operation they are written, and within it at every change, so that its own
// statements read what is true.
type books struct {
	deferred bool
	runs     []*account
	ledger   []*balance
	rows     []*gathered
}

// figures of a run that calls change.
type figures struct {
	charged, metered, reserved, waived, absorbed usd.Micro
	unreported                                   int
	nextSeq                                      int64
}

// account is a run's figures within a transaction.
type account struct {
	id      core.RunID
	state   core.State
	fence   int64
	cap     usd.Micro
	was     figures
	now     figures
	tallies []tally
}

type tally struct {
	outcome bundle.Outcome
	n       int
}

// free is what is left under the cap.
func (a *account) free() usd.Micro { return a.cap - a.now.charged - a.now.metered - a.now.reserved }

// reserve sets a worst case aside. The caller has made sure that it fits.
func (a *account) reserve(w usd.Micro) error {
	if a.state != core.Running || w > a.free() {
		return fmt.Errorf("reserve %s with %s free in a %s run: %w", w, a.free(), a.state, core.ErrMoved)
	}
	a.now.reserved += w
	return nil
}

// release gives a reservation back.
func (a *account) release(w usd.Micro) error {
	if w > a.now.reserved {
		return fmt.Errorf("release %s of %s: %w", w, a.now.reserved, core.ErrMoved)
	}
	a.now.reserved -= w
	return nil
}

func (a *account) count(o bundle.Outcome) {
	for i := range a.tallies {
		if a.tallies[i].outcome == o {
			a.tallies[i].n++
			return
		}
	}
	a.tallies = append(a.tallies, tally{o, 1})
}

// balance is a change to one account of the ledger.
type balance struct {
	id    string
	delta usd.Micro
}

// account is the run's place in the books. Its row is locked until the commit.
func (t *tx) account(id core.RunID) (*account, error) {
	for _, a := range t.books.runs {
		if a.id == id {
			return a, nil
		}
	}
	a := &account{id: id}
	f := &a.was
	err := t.peek(`SELECT state, fence, cap, charged, metered, reserved, waived, absorbed, unreported, next_seq FROM runs WHERE id = $1`+t.w.lock, string(id)).
		Scan(&a.state, &a.fence, &a.cap, &f.charged, &f.metered, &f.reserved, &f.waived, &f.absorbed, &f.unreported, &f.nextSeq)
	if err != nil {
		return nil, fmt.Errorf("open the books of run %s: %w", id, err)
	}
	a.now = a.was
	t.books.runs = append(t.books.runs, a)
	return a, nil
}

// change applies f to a run's figures.
func (t *tx) change(id core.RunID, f func(*account) error) error {
	a, err := t.account(id)
	if err != nil {
		return err
	}
	if err := f(a); err != nil {
		return err
	}
	return t.booked()
}

// booked follows every change: it is written now unless the transaction writes
// its books at its end.
func (t *tx) booked() error {
	if t.books.deferred {
		return nil
	}
	return t.closeBooks()
}

// adjust changes a balance of the ledger that cannot fall short.
func (t *tx) adjust(id string, delta usd.Micro) {
	for _, b := range t.books.ledger {
		if b.id == id {
			b.delta += delta
			return
		}
	}
	t.books.ledger = append(t.books.ledger, &balance{id, delta})
}

// closeBooks writes what has changed and forgets what was read.
func (t *tx) closeBooks() error {
	for _, a := range t.books.runs {
		if err := t.closeAccount(a); err != nil {
			return fmt.Errorf("close the books of run %s: %w", a.id, err)
		}
	}
	for _, b := range t.books.ledger {
		if b.delta == 0 {
			continue
		}
		err := t.one(`UPDATE ledger_accounts SET balance = balance + $1 WHERE id = $2 AND (allow_negative = 1 OR balance + $1 >= 0)`, int64(b.delta), b.id)
		if err != nil {
			return fmt.Errorf("close ledger account %s: %w", b.id, err)
		}
	}
	for _, g := range t.books.rows {
		if err := t.insert(g.into, g.shared, g.rows); err != nil {
			return fmt.Errorf("write gathered rows: %w", err)
		}
	}
	t.books.runs, t.books.ledger, t.books.rows = nil, nil, nil
	return nil
}

func (t *tx) closeAccount(a *account) error {
	if a.now != a.was {
		n, w := a.now, a.was
		err := t.one(`UPDATE runs SET charged = charged + $1, metered = metered + $2, reserved = reserved + $3, waived = waived + $4, absorbed = absorbed + $5,
			unreported = unreported + $6, next_seq = next_seq + $7
			WHERE id = $8 AND reserved + $3 >= 0 AND charged + $1 + metered + $2 + reserved + $3 <= cap`,
			int64(n.charged-w.charged), int64(n.metered-w.metered), int64(n.reserved-w.reserved), int64(n.waived-w.waived), int64(n.absorbed-w.absorbed),
			n.unreported-w.unreported, n.nextSeq-w.nextSeq, string(a.id))
		if err != nil {
			return err
		}
		a.was = a.now
	}
	for _, c := range a.tallies {
		if err := t.put(`INSERT INTO tallies (run_id, outcome, n) VALUES ($1, $2, $3)
			ON CONFLICT (run_id, outcome) DO UPDATE SET n = tallies.n + excluded.n`, string(a.id), string(c.outcome), c.n); err != nil {
			return err
		}
	}
	a.tallies = nil
	return nil
}
