package langsmith

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Header is what a scan reads of a root run.
type Header struct {
	ID    string
	Start time.Time
	// End is zero while the run goes on.
	End    time.Time
	Status string // api.TraceOK, api.TraceError or api.TraceOpen
	// Tokens is the total of the tree, -1 when it is not known. The source
	// computes it some time after the end.
	Tokens int64
}

// Done says that the run has ended.
func (h Header) Done() bool { return !h.End.IsZero() && h.Status != api.TraceOpen }

// Query is a search for root runs by start time, both ends included. With IDs
// it is about these runs only; the window still has to contain them.
type Query struct {
	IDs      []string
	Min, Max time.Time
	Cursor   string
}

// Page is one page of root runs in the order of the source. Next is "" on the
// last one.
type Page struct {
	Items []Header
	Next  string
}

// Run is one run of a tree as the source tells it.
type Run struct {
	ID       string
	ParentID string // "" for the root
	Order    string // sorts parents before children
	Type     string // llm, chain, tool, retriever, embedding, prompt, parser
	Name     string
	Status   string
	Error    string
	// Times are zero when the source has none.
	Start, End, FirstToken time.Time
	Inputs, Outputs        json.RawMessage
	Metadata               json.RawMessage
	Tags                   []string
	// Token counts are nil when unknown.
	InputTokens, OutputTokens *int64
	// Cost is in US dollars as the source wrote it, "" when unknown.
	Cost string
}

// ErrGone is a tree that the source does not have any more.
var ErrGone = errors.New("the source does not have this trace any more")

// Source is LangSmith, limited to one project.
type Source interface {
	// Roots searches for root runs.
	Roots(ctx context.Context, q Query) (Page, error)
	// Tree visits every run of a trace. It may end early with visit's error.
	Tree(ctx context.Context, root Header, visit func(Run) error) error
	// Now is the source's clock.
	Now() time.Time
}

// Destination stores traces. The key makes a repetition harmless.
type Destination interface {
	Import(ctx context.Context, key string, traces []api.ImportedTrace) (api.TraceImportResult, error)
}

// Store makes changes of the state durable.
type Store interface {
	// Save returns when the change would survive a crash. It may write the
	// whole state instead, which whole yields piece by piece.
	Save(c Change, whole func(yield func(Change) bool)) error
}

// Clock measures and waits. Sleep returns the cause when ctx ends.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// Retryable is an error that may pass by itself. RetryAfter is how long the
// other side asked to wait, 0 if it did not.
type Retryable interface {
	error
	RetryAfter() (wait time.Duration, ok bool)
}

// ErrTooLarge is the error of a Destination that refuses a batch for its size.
var ErrTooLarge = errors.New("the batch is too large")
