package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// System is what the process gets from outside.
type System struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Version        string
	// Now is the machine's clock; nil means the real one.
	Now func() time.Time
	// Signals carries the wish to stop; a second one means at once.
	Signals <-chan os.Signal
}

func (s System) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Exit statuses.
const (
	exitOK      = 0
	exitFailed  = 1
	exitRefused = 2
)

// refusal ends the process with a code, a sentence and a status.
type refusal struct {
	code    string
	message string
	status  int
}

// Error is the sentence with its code.
func (r *refusal) Error() string { return fmt.Sprintf("%s (%s)", r.message, r.code) }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{code: code, message: fmt.Sprintf(format, args...), status: exitRefused}
}

// explain makes full storage, and a damaged database, a sentence that names the
// directory.
func (d dataDir) explain(err error) error {
	switch {
	case store.Damaged(err):
		return &refusal{code: "database_damaged", status: exitFailed,
			message: fmt.Sprintf("the database %s is damaged: %s. Nothing more was done, and nobody was called. Move the file away with its -wal and -shm files, but keep them; "+
				"then 'evalrouterd restore --data %s --from BACKUP' puts a backup in its place", d.path(databaseFile), plain.Line(err.Error()), d)}
	case !store.Full(err):
		return err
	}
	return &refusal{code: "storage_full", status: exitFailed,
		message: fmt.Sprintf("the data directory %s takes no more data: it is full or cannot be written. Make room, then repeat the command (%s)", d, plain.Line(err.Error()))}
}

// report prints an error as one line and gives its exit status.
func (s System) report(err error) int {
	if err == nil {
		return exitOK
	}
	var r *refusal
	var no *core.Refusal
	switch {
	case errors.As(err, &r):
		fmt.Fprintf(s.Stderr, "evalrouterd: %s\n", r)
		return r.status
	case errors.As(err, &no):
		fmt.Fprintf(s.Stderr, "evalrouterd: %s (%s)\n", no.Message, no.Code)
		return exitRefused
	}
	fmt.Fprintf(s.Stderr, "evalrouterd: %s\n", err)
	return exitFailed
}

// clock is real time for the engine: the time of the machine, or that of the
// database that several machines share.
type clock struct{ shared *store.Store }

// Now is the time.
func (c clock) Now() time.Time {
	if c.shared != nil {
		return time.UnixMicro(int64(c.shared.Now()))
	}
	return time.Now()
}

// Sleep waits, or returns the context's error.
func (clock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// workerName names this process in the journal: no two have the same, and a
// person finds the process by it.
func workerName() string { return fmt.Sprintf("%d-%s", os.Getpid(), uuid.NewString()) }

func newID() string { return uuid.NewString() }

// newCallID is time-ordered, so that journals append.
func newCallID() string { return uuid.Must(uuid.NewV7()).String() }

func randomBytes(b []byte) {
	// crypto/rand.Read never fails: it ends the process instead.
	rand.Read(b)
}

// newNonce is 64 bits that nobody can foresee, as hex.
func newNonce() string {
	var b [8]byte
	randomBytes(b[:])
	return hex.EncodeToString(b[:])
}

func jitter() float64 { return mathrand.Float64() }
