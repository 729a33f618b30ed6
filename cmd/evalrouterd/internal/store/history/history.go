// Package history reads what is written down of runs: their tasks, answers,
// events and money. It changes nothing, and each page is one statement, so that
// a long export holds neither a run in memory nor a transaction open.
package history

import "database/sql"

// Reader reads a database that the store keeps. It is safe for concurrent use.
type Reader struct{ db *sql.DB }

// NewReader reads through connections that need not be able to write.
func NewReader(db *sql.DB) Reader { return Reader{db} }
