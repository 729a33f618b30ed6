package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// childVar holds the orders of a child process as JSON. The test binary is
// its own child.
const childVar = "EVALROUTER_CRASH_CHILD"

// orders say what a child does: run the whole story in a folder, and die at
// the Hit-th time it passes a point, at none when Die is "".
type orders struct {
	Dir      string
	Postgres string
	Die      string
	Hit      int
}

// Files of a story's folder.
const (
	databaseFile = "evalrouter.db"
	spoolFile    = "answers"
	workedFile   = "worked"  // one line for each question that the provider worked on
	keptFile     = "kept"    // one line for each answer that was kept before it was recorded
	pointsFile   = "points"  // what was passed, written by a child that ends well
	sentFile     = "on-wire" // one line for each request on its way
)

// startPhase stands before the points of a start, until live runs are taken up.
const startPhase = "start: "

var scope = core.Scope{Workspace: core.Local, Actor: "owner"}

// process is the service without its HTTP layer, on watched files.
type process struct {
	orders
	r       *recorder
	store   *store.Store
	catalog *catalog.Catalog
	engine  *engine.Engine
	admit   *admission.Service
	clock   *skipping
	changed chan core.RunID
}

func child(o orders) error {
	r := newRecorder(o.Die, o.Hit)
	register(r)
	r.enter(startPhase)
	p := &process{orders: o, r: r, clock: &skipping{}, changed: make(chan core.RunID, 1<<14)}
	ctx := context.Background()
	kept, err := p.open(ctx)
	if err != nil {
		return err
	}
	if err := p.engine.Start(ctx, kept); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	r.enter("")
	for _, c := range chapters {
		if c.together {
			continue
		}
		if err := p.play(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	first, err := p.playGroup(ctx, groupName, len(members(false)), p.quoteGroup)
	if err != nil {
		return fmt.Errorf("%s: %w", groupName, err)
	}
	// Its members are done with before the group goes on, so that what is written
	// comes in the same order each time.
	if _, err := p.playGroup(ctx, againName, len(members(true)), func(ctx context.Context) (core.GroupQuoteID, error) { return p.regroup(ctx, first) }); err != nil {
		return fmt.Errorf("%s: %w", againName, err)
	}
	if err := p.engine.Stop(ctx); err != nil {
		return err
	}
	if err := p.store.Close(); err != nil {
		return err
	}
	b, err := json.Marshal(r.passed())
	if err != nil {
		return err
	}
	return os.WriteFile(p.path(pointsFile), b, 0o600)
}

func (p *process) path(name string) string { return filepath.Join(p.Dir, name) }

func (p *process) open(ctx context.Context) ([]core.Response, error) {
	o := store.Options{Path: p.path(databaseFile), Driver: watchedSQLite, Now: p.clock.Now}
	if p.Postgres != "" {
		o.Path, o.Postgres, o.Driver = "", p.Postgres, watchedPostgres
	}
	var err error
	if p.store, err = store.Open(ctx, o); err != nil {
		return nil, err
	}
	if _, err := p.store.CreateWorkspace(ctx, core.WorkspaceInfo{ID: core.Local, Slug: "local", Name: "Local", Practice: true}); err != nil {
		return nil, err
	}
	if err := p.store.Grant(ctx, "grant-1", core.Local, core.PracticeBook, usd.Dollar, "start"); err != nil {
		return nil, err
	}
	p.catalog = catalog.New(p.store, routes(), uuid.NewString)
	if err := p.benchmark(ctx); err != nil {
		return nil, err
	}
	var files []spool.File
	for _, name := range []string{spoolFile, spoolFile + spool.Second} {
		f, err := os.OpenFile(p.path(name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		files = append(files, &watchedFile{File: f, p: p})
	}
	answers, kept, err := spool.Over(files[0], files[1])
	if err != nil {
		return nil, err
	}
	adapters := provider.Set{core.PracticeProtocol: &model{p: p}}
	p.engine = engine.New(engine.Options{
		Journal: p.store, Answers: p.store, Reuse: p.store.Continuation(), Spool: answers, Runs: p.store, Life: p.store, Tasks: p.catalog, Keys: keys{}, Adapters: adapters, Clock: p.clock,
		NewID: uuid.NewString, NewCallID: func() string { return uuid.Must(uuid.NewV7()).String() }, Jitter: func() float64 { return 0.5 },
		Log: slog.New(slog.DiscardHandler), Worker: "child", Changed: func(id core.RunID) { p.changed <- id },
	})
	p.admit = &admission.Service{Store: p.store, Chains: p.store.Continuation(), Catalog: p.catalog, Adapters: adapters, Engine: p.engine, NewID: uuid.NewString, Groups: p.store.Groups()}
	return kept, nil
}

// benchmark admits one that is stored, as an operator does.
func (p *process) benchmark(ctx context.Context) error {
	stored := core.Profile{
		ID: "sums@1", Slug: "sums", Version: "1", Name: "Sums", Status: "active", Runner: "generic", Family: "generic", ManifestSHA256: "m1",
		DatasetSHA256: "d1", TaskCount: 3, MaxOutputTokens: 50, GraderConfig: json.RawMessage(`{"kind":"numeric"}`),
	}
	_, err := p.store.PutProfile(ctx, uuid.NewString(), stored, func(yield func(bundle.Task, error) bool) {
		for i := range stored.TaskCount {
			t := bundle.Task{ID: fmt.Sprint("t", i), Input: []bundle.Message{{Role: bundle.User, Text: fmt.Sprint(i, "+1")}}, Target: []string{fmt.Sprint(i + 1)}}
			if !yield(t, nil) {
				return
			}
		}
	})
	return err
}

// play submits the run of a chapter, as a user does who repeats the same
// command until it is answered, and waits until it has ended.
func (p *process) play(ctx context.Context, c chapter) error {
	id, err := p.submit(ctx, c)
	if err != nil {
		return err
	}
	return p.wait(ctx, id)
}

func (p *process) wait(ctx context.Context, id core.RunID) error {
	patience := time.After(time.Minute)
	for {
		r, err := p.store.Run(ctx, scope, id)
		if err != nil || r.State.Terminal() {
			return err
		}
		select {
		case <-p.changed:
		case <-patience:
			return fmt.Errorf("the run is still %s", r.State)
		}
	}
}

func (p *process) submit(ctx context.Context, c chapter) (core.RunID, error) {
	file := p.path("quote-" + c.name)
	quote, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		quote, err = p.quote(ctx, c, file)
	}
	if err != nil {
		return "", err
	}
	out, err := p.admit.Start(ctx, scope, admission.RunRequest{
		Quote: core.QuoteID(quote), Name: c.name, Op: "POST /runs", Key: "key-" + string(quote), RequestHash: "h",
		Encode: func(r core.Run, _ core.Quote) ([]byte, error) { return json.Marshal(r.ID) },
	})
	return out.Run, err
}

func (p *process) quote(ctx context.Context, c chapter, file string) ([]byte, error) {
	if c.resumes != "" {
		return p.quoteAgain(ctx, c, file)
	}
	b, err := p.catalog.Generate(ctx, "arithmetic", c.seed, c.tasks)
	if err != nil {
		return nil, err
	}
	q, err := p.admit.Quote(ctx, scope, admission.QuoteRequest{
		Profile: b.ID, Route: c.route(), Full: true, Cap: &c.cap, Concurrency: core.Concurrency{N: 1},
	})
	if err != nil {
		return nil, err
	}
	return []byte(q.ID), os.WriteFile(file, []byte(q.ID), 0o600)
}

// quoteAgain quotes the continuation of an earlier chapter's run.
func (p *process) quoteAgain(ctx context.Context, c chapter, file string) ([]byte, error) {
	runs, err := p.runs()
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if r.Name != c.resumes {
			continue
		}
		q, err := p.admit.Continue(ctx, scope, admission.ContinuationRequest{Run: r.ID, Cap: &c.cap})
		if err != nil {
			return nil, err
		}
		return []byte(q.ID), os.WriteFile(file, []byte(q.ID), 0o600)
	}
	return nil, fmt.Errorf("there is no run of %s", c.resumes)
}

// note adds a line to one of the folder's files. The kernel has it when this
// returns, so the death of the process takes nothing of it.
func (p *process) note(file, line string) {
	f, err := os.OpenFile(p.path(file), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(line + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err) // without its notes a child proves nothing
	}
}

// skipping is real time on which every sleep is over at once.
type skipping struct {
	mu      sync.Mutex
	skipped time.Duration
}

// Now implements engine.Clock.
func (c *skipping) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.skipped)
}

// Sleep implements engine.Clock.
func (c *skipping) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped += max(d, 0)
	return ctx.Err()
}

// watchedFile is the spool's file, whose writes are points: before, half done
// and done.
type watchedFile struct {
	*os.File
	p *process
}

// WriteAt implements spool.File.
func (f *watchedFile) WriteAt(b []byte, at int64) (int, error) {
	f.p.r.point("spool: before an answer is kept")
	half := len(b) / 2
	n, err := f.File.WriteAt(b[:half], at)
	if err != nil {
		return n, err
	}
	f.p.r.point("spool: half of an answer is kept")
	m, err := f.File.WriteAt(b[half:], at+int64(half))
	if err != nil {
		return n + m, err
	}
	var r core.Response
	if err := json.Unmarshal(b[8:], &r); err != nil { // after the record's header
		return n + m, err
	}
	f.p.note(keptFile, string(r.Run)+" "+fmt.Sprint(r.Idx)+" "+string(r.Call))
	f.p.r.point("spool: an answer is kept")
	return n + m, nil
}

// Truncate implements spool.File.
func (f *watchedFile) Truncate(size int64) error {
	f.p.r.point("spool: before it is emptied")
	err := f.File.Truncate(size)
	f.p.r.point("spool: it is emptied")
	return err
}

func (p *process) runs() ([]core.Run, error) {
	return p.store.Runs(context.Background(), scope, store.RunFilter{Limit: 100})
}
