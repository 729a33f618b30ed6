package tui_test

import (
	"context"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/tui"
	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/source"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// world is a service in memory and whoever looks at it.
type world struct {
	t     *testing.T
	fake  *apitest.Fake
	clock *kittest.Clock
	src   *source.Source
	gate  chan struct{} // of pauses, nil lets them all pass
	// service is what src was made from.
	service source.Options
	// in is how somebody signs in from here, nil where nobody does.
	in *tui.SignIn
	// token is what the client sends, where it is not the fake's own.
	token func() string
	// top is the place that is shown.
	top any
}

// start is when every test begins.
func start() time.Time { return time.Date(2026, 11, 29, 14, 2, 11, 0, time.UTC) }

func newWorld(t *testing.T, o apitest.Options) *world {
	t.Helper()
	w := &world{t: t, clock: kittest.NewClock(start())}
	if o.Now == nil {
		o.Now = w.clock.Now
	}
	w.fake = apitest.NewFake(o)
	t.Cleanup(w.fake.Close)
	var keys atomic.Int64
	dir := t.TempDir()
	w.token = func() string { return w.fake.Token }
	connect := func() (*evalrouter.Client, error) {
		return evalrouter.New(evalrouter.Config{
			BaseURL: w.fake.URL, APIKey: w.token(), WorkspaceID: w.fake.WorkspaceID, AllowHTTP: true, Now: w.clock.Now, Sleep: atOnce, Retries: new(int),
		})
	}
	public := func() (*evalrouter.Catalog, error) {
		c, err := connect()
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { c.Close() })
		return c.Catalog.Public(), nil
	}
	w.service = source.Options{
		Connect: func(context.Context) (*evalrouter.Client, error) { return connect() }, Catalog: public, Refresh: public,
		Journal: &flow.Journal{Dir: t.TempDir(), Disk: flow.OS{}, Now: w.clock.Now, Sleep: atOnce},
		Origin:  w.fake.URL, Workspace: w.fake.WorkspaceID,
		NewKey:  func() string { return fmt.Sprintf("run-%d", keys.Add(1)) },
		SaveDir: func() (string, error) { return dir, nil },
		Now:     w.clock.Now, Sleep: w.pause, Chance: func() float64 { return 0.5 },
	}
	w.src = source.New(w.service)
	t.Cleanup(func() { w.src.Close() })
	return w
}

// atOnce is a pause of a client: none.
func atOnce(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// step lets a watcher that is held make its next pause. It is for a moment at
// which somebody is watching for certain; where a watcher may have ended
// already, release is.
func (w *world) step() {
	w.t.Helper()
	select {
	case w.gate <- struct{}{}:
	case <-time.After(20 * time.Second):
		w.t.Fatal("nobody is watching who could make a pause")
	}
}

// release lets all pauses pass from now on.
func (w *world) release() { close(w.gate) }

// hold stops watchers at their pauses, so that frames of what goes on are of one
// moment.
func (w *world) hold() { w.gate = make(chan struct{}) }

// client asks the service beside the workspace.
func (w *world) client() *evalrouter.Client {
	w.t.Helper()
	c, err := w.src.Connect(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// pause lets the clock of the service go on, a little in real time too, so that
// a watcher does not spin.
func (w *world) pause(ctx context.Context, d time.Duration) error {
	if w.gate != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.gate:
		}
	}
	w.clock.Advance(d)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Millisecond):
		return nil
	}
}

func (w *world) open(width, height int, to any) *kittest.Harness {
	w.t.Helper()
	return kittest.Start(w.t, width, height, kit.Colour, w.watched(tui.Screens(w.src, "fake", w.in)), w.clock, to)
}

// watched notes which place is the one that is shown.
func (w *world) watched(s *kit.Stack) *kit.Stack {
	next := s.Make
	s.Make = func(to any) (kit.Screen, []kit.Effect) {
		screen, effects := next(to)
		return placed{screen, to, w}, effects
	}
	return s
}

// placed is a screen that tells when it is drawn.
type placed struct {
	kit.Screen
	to any
	w  *world
}

// Update is that of the screen.
func (p placed) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	next, effects := p.Screen.Update(m)
	return placed{next, p.to, p.w}, effects
}

// View draws the screen.
func (p placed) View(c kit.Canvas) {
	p.w.top = p.to
	p.Screen.View(c)
}

func (w *world) home(width, height int) *kittest.Harness { return w.open(width, height, route.Home{}) }

// sizes are those of the golden frames.
func sizes() [][2]int { return [][2]int{{60, 16}, {80, 24}, {140, 40}} }

// outage makes every read of Home fail.
func (w *world) outage() {
	for _, r := range []string{"GET /v1/catalog/benchmarks", "GET /v1/catalog/models", "GET /v1/runs", "GET /v1/credits"} {
		w.fake.Fail(r, 1000, 503, api.Unavailable)
	}
}
