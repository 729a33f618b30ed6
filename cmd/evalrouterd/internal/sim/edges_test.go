package sim_test

import (
	"database/sql"
	"fmt"
	"testing"
)

// The database itself counts the steps that runs, samples and calls take:
// triggers see every writer and every statement, and what was rolled back was
// not a step. "new" is a row that appears.
const countSteps = `
CREATE TABLE sim_steps (what TEXT NOT NULL, from_state TEXT NOT NULL, to_state TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (what, from_state, to_state));
%s`

const countTable = `
CREATE TRIGGER sim_%[1]s_new AFTER INSERT ON %[1]s BEGIN
	INSERT INTO sim_steps VALUES ('%[1]s', 'new', new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER sim_%[1]s_step AFTER UPDATE OF state ON %[1]s WHEN old.state <> new.state BEGIN
	INSERT INTO sim_steps VALUES ('%[1]s', old.state, new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;`

func (w *world) raw(do func(*sql.DB) error) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=busy_timeout(5000)")
	w.check(err)
	defer db.Close()
	w.check(do(db))
}

func (w *world) countSteps() {
	tables := ""
	for _, t := range []string{"runs", "samples", "calls"} {
		tables += fmt.Sprintf(countTable, t)
	}
	w.raw(func(db *sql.DB) error {
		_, err := db.Exec(fmt.Sprintf(countSteps, tables))
		return err
	})
}

// steps adds what was counted to what the history has seen.
func (w *world) steps() {
	w.raw(func(db *sql.DB) error {
		rows, err := db.Query(`SELECT what, from_state, to_state, n FROM sim_steps`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var what, from, to string
			var n int
			if err := rows.Scan(&what, &from, &to, &n); err != nil {
				return err
			}
			w.seen[step(what, from, to)] += n
		}
		return rows.Err()
	})
}

func step(what, from, to string) string { return "step " + what + ": " + from + " > " + to }

// steps that the histories must take; any other is not one of the product.
var legal = []struct{ what, from, to string }{
	{"runs", "new", "queued"}, {"runs", "queued", "running"}, {"runs", "queued", "stopping"}, {"runs", "running", "stopping"},
	{"runs", "running", "completed"}, {"runs", "running", "partial"}, {"runs", "running", "failed"},
	{"runs", "stopping", "partial"}, {"runs", "stopping", "failed"}, {"runs", "stopping", "cancelled"},
	{"calls", "new", "intent"}, {"calls", "intent", "sent"}, {"calls", "intent", "voided"},
	{"calls", "unknown", "late"}, {"samples", "new", "planned"}, {"samples", "new", "answered"}, {"samples", "new", "graded"}, {"samples", "new", "left_out"}, {"samples", "new", "pending"},
	{"calls", "sent", "responded"}, {"calls", "sent", "rejected"}, {"calls", "sent", "unknown"}, {"calls", "sent", "voided"},
	{"samples", "new", "in_call"}, {"samples", "planned", "in_call"}, {"samples", "in_call", "planned"},
	{"samples", "in_call", "answered"}, {"samples", "in_call", "graded"}, {"samples", "in_call", "unresolved"}, {"samples", "in_call", "failed"}, {"samples", "in_call", "refused"},
	{"samples", "answered", "graded"},
	{"samples", "in_call", "judging"}, {"samples", "judging", "answered"}, {"samples", "judging", "graded"}, {"samples", "judging", "failed"},
	{"samples", "judging", "unresolved"}, {"samples", "judging", "cancelled"}, {"samples", "judging", "pending"}, {"samples", "judging", "refused"},
}

// rare is a step that is legal and that no number of histories owes: the last
// judge's reply reached the spool alone, and it holds no verdict.
var rare = step("samples", "answered", "failed")

// enoughForEverything is from how many histories on every step must have been
// taken, the rarest too.
const enoughForEverything = 300

// checkSteps wants every legal step, and no other.
func checkSteps(t *testing.T, seen map[string]int, histories int) {
	t.Helper()
	names := map[string]bool{rare: true}
	for _, l := range legal {
		name := step(l.what, l.from, l.to)
		names[name] = true
		if histories >= enoughForEverything && seen[name] == 0 {
			t.Errorf("no history took the %s", name)
		}
	}
	for name := range seen {
		if len(name) > 5 && name[:5] == "step " && !names[name] {
			t.Errorf("a step that is none of the product's: %s", name)
		}
	}
}
