package flow

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/internal/filelock"
)

// States of an operation. Accepted: the quote was accepted here and may have
// been submitted. Submitted: the service named the run. Finished: the run's end
// was seen.
const (
	Accepted  = "accepted"
	Submitted = "submitted"
	Finished  = "finished"
)

// Kinds of operation.
const (
	RunKind    = "run"
	GroupKind  = "group"
	ResumeKind = "resume"
)

// NewOption marks an operation that was asked for as separate work.
const NewOption = "new"

// Journal keeps one record for every operation that this user accepted, by
// fingerprint. Records hold identifiers only.
type Journal struct {
	// Dir is the state directory; records are in its "operations".
	Dir  string
	Disk Disk
	Now  func() time.Time
	// Sleep waits between attempts to lock; it returns early when ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Held is the exclusive right to one fingerprint's record.
type Held struct {
	j           *Journal
	fingerprint string
	generation  int
	lock        *filelock.Lock
}

func (j *Journal) dir() string { return filepath.Join(j.Dir, "operations") }

// Check says whether records can be written. It is asked before any quote is
// accepted: what cannot be remembered must not be bought.
func (j *Journal) Check() error {
	// A name that no other check uses at the same time; nothing depends on it.
	probe := filepath.Join(j.dir(), "probe-"+rand.Text()+".tmp")
	err := j.Disk.MakeDir(j.dir())
	if err == nil {
		err = j.Disk.Remove(probe)
	}
	if err == nil {
		err = j.Disk.Create(probe, nil)
	}
	if err == nil {
		err = j.Disk.Remove(probe)
	}
	if err != nil {
		return j.unwritable(err)
	}
	return nil
}

// Lock waits for the record of a fingerprint. Other processes wait in turn.
func (j *Journal) Lock(ctx context.Context, fingerprint string) (*Held, error) {
	if err := j.Disk.MakeDir(j.dir()); err != nil {
		return nil, j.unwritable(err)
	}
	l, err := filelock.Take(ctx, filepath.Join(j.dir(), fingerprint+".lock"), j.Sleep)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, j.unwritable(err)
	}
	return &Held{j: j, fingerprint: fingerprint, lock: l}, nil
}

// Peek reads a record without the lock. It is good enough to decide what to
// show, never to decide what to submit.
func (j *Journal) Peek(fingerprint string) (*api.Operation, error) {
	op, _, err := j.load(fingerprint)
	return op, err
}

// Load reads the newest generation of the record, nil when there is none.
func (h *Held) Load() (op *api.Operation, err error) {
	op, h.generation, err = h.j.load(h.fingerprint)
	return op, err
}

// Separate makes the next Save write a new generation beside the old record.
// It needs a Load before it.
func (h *Held) Separate() { h.generation++ }

// Save makes the record durable. When it returns nil, a crash at any later
// moment leaves this record or a newer one.
func (h *Held) Save(op api.Operation) error {
	op.Schema, op.Fingerprint, op.UpdatedAt = api.OperationSchema, h.fingerprint, h.j.Now().UTC()
	if op.CreatedAt.IsZero() {
		op.CreatedAt = op.UpdatedAt
	}
	data, err := json.MarshalIndent(op, "", "  ")
	if err != nil {
		return fmt.Errorf("write operation: %w", err)
	}
	if err := Replace(h.j.Disk, h.j.path(h.fingerprint, h.generation), append(data, '\n')); err != nil {
		return h.j.unwritable(err)
	}
	return nil
}

// Forget removes the record of an operation that provably started nothing.
func (h *Held) Forget() error {
	if err := h.j.Disk.Remove(h.j.path(h.fingerprint, h.generation)); err != nil {
		return h.j.unwritable(err)
	}
	return nil
}

// Unlock lets the next process in.
func (h *Held) Unlock() error { return h.lock.Release() }

// path is <fingerprint>.json for the first generation, then <fingerprint>.2.json.
func (j *Journal) path(fingerprint string, generation int) string {
	if generation <= 1 {
		return filepath.Join(j.dir(), fingerprint+".json")
	}
	return filepath.Join(j.dir(), fmt.Sprintf("%s.%d.json", fingerprint, generation))
}

func (j *Journal) load(fingerprint string) (*api.Operation, int, error) {
	entries, err := os.ReadDir(j.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 1, nil
	}
	if err != nil {
		return nil, 0, j.corrupt(j.dir(), err)
	}
	newest := 0
	for _, e := range entries {
		newest = max(newest, generationOf(e.Name(), fingerprint))
	}
	if newest == 0 {
		return nil, 1, nil
	}
	path := j.path(fingerprint, newest)
	op, err := readOperation(path, fingerprint)
	if err != nil {
		return nil, 0, j.corrupt(path, err)
	}
	return op, newest, nil
}

func generationOf(name, fingerprint string) int {
	rest, ok := strings.CutPrefix(name, fingerprint)
	if !ok {
		return 0
	}
	if rest == ".json" {
		return 1
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(rest, "."), ".json"))
	if err != nil || n < 2 || rest != fmt.Sprintf(".%d.json", n) {
		return 0
	}
	return n
}

const maxOperation = 64 << 10

func readOperation(path, fingerprint string) (op *api.Operation, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxOperation {
		return nil, errors.New("not a regular file of a record's size")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&op); err != nil || op == nil {
		return nil, errors.New("not a JSON object")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	return op, checkOperation(op, fingerprint)
}

func checkOperation(op *api.Operation, fingerprint string) error {
	switch {
	case op.Schema != api.OperationSchema:
		return errors.New("its schema is not " + api.OperationSchema)
	case op.Fingerprint != fingerprint:
		return errors.New("its fingerprint is not that of its name")
	case op.QuoteID == "" || op.IdempotencyKey == "":
		return errors.New("it has no quote id or idempotency key")
	case op.State == Accepted:
		return nil
	case op.State != Submitted && op.State != Finished:
		return errors.New("its state is unknown")
	case op.RunID == nil && op.GroupID == nil:
		return errors.New("it was submitted but names no run")
	}
	return nil
}

func (j *Journal) unwritable(err error) *Error {
	return &Error{
		Code:    api.StateUnwritable,
		Message: "the operation record cannot be written under " + j.dir(),
		Facts: []string{
			"nothing was started or charged: a run that is not recorded could be bought twice",
			"EVALROUTER_STATE_DIR names another directory; --dry-run works without one",
		},
		Err: err,
	}
}

func (j *Journal) corrupt(path string, err error) *Error {
	return &Error{
		Code:    api.StateCorrupt,
		Message: fmt.Sprintf("the operation record %s cannot be trusted: %s", path, err),
		Facts: []string{
			"nothing was started or charged: the record may belong to a run that exists",
			"look for the run with: evalrouter status; then move the file away and repeat",
		},
		Err: err,
	}
}

// RunIDs are the runs of the recorded operations, the newest first. Records
// that cannot be read are left out: this is for suggestions only.
func (j *Journal) RunIDs() []string {
	entries, err := os.ReadDir(j.dir())
	if err != nil {
		return nil
	}
	var ops []*api.Operation
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		fingerprint, _, _ := strings.Cut(name, ".")
		op, err := readOperation(filepath.Join(j.dir(), e.Name()), fingerprint)
		if err == nil && op.RunID != nil && WholeID(*op.RunID) {
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b *api.Operation) int { return b.CreatedAt.Compare(a.CreatedAt) })
	var out []string
	for _, op := range ops {
		if !slices.Contains(out, *op.RunID) {
			out = append(out, *op.RunID)
		}
	}
	return out
}
