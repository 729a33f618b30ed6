package tui_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/apitest"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
	"github.com/evalrouter/evalrouter/tui/internal/page/live"
	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// shot is a state of a screen that is held to golden frames of every size.
type shot struct {
	name    string
	options apitest.Options
	journey func(*world, *kittest.Harness)
}

// shots are all of them.
func shots() []shot {
	return slices.Concat(browsing(), grouped(), regrouping(), stops(), signing(), []shot{
		{"home-update", apitest.Options{}, func(_ *world, x *kittest.Harness) { x.Wants("Release 0.3.1 is out") }},
		{"live-running", apitest.Options{}, calmly(calm{})},
		{"live-outage", apitest.Options{}, calmly(outOfReach())},
		{"run-review-armed", apitest.Options{}, func(_ *world, x *kittest.Harness) { toReview(x) }},
		{"group-review-armed", apitest.Options{}, func(_ *world, x *kittest.Harness) { toGroupReview(x) }},
	})
}

func outOfReach() calm { return calm{down: 37 * time.Second} }

// begin is the workspace in which the journey of a shot is made.
func (s shot) begin(t *testing.T, width, height int) (*world, *kittest.Harness) {
	switch {
	case slices.ContainsFunc(signing(), func(o shot) bool { return o.name == s.name }):
		w := outside(t, apitest.SignIn{Interval: 3600})
		return w, w.home(width, height)
	case s.name == "live-running", s.name == "live-outage": // at one moment
		c := calm{}
		if s.name == "live-outage" {
			c = outOfReach()
		}
		w := newWorld(t, s.options)
		stack := w.watched(&kit.Stack{Make: func(any) (kit.Screen, []kit.Effect) { return live.New(c, calmID) }})
		return w, kittest.Start(t, width, height, kit.Mono, stack, w.clock, route.Live{ID: calmID})
	}
	w := newWorld(t, s.options)
	if s.name == "home-update" {
		w.src.Options.Newer = func(context.Context) string { return "0.3.1" }
	}
	return w, w.home(width, height)
}

// drawn is which places stood in which frames.
type drawn struct {
	mu     sync.Mutex
	frames map[string]bool            // by name and size
	places map[string]map[string]bool // the names of the frames of a place
}

func (d *drawn) add(to any, name, size string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.frames[name+"-"+size] = true
	at := placeName(to)
	if d.places[at] == nil {
		d.places[at] = map[string]bool{}
	}
	d.places[at][name] = true
}

// Every screen has its golden frame at every size, and below the smallest size
// there is one page, at which nothing is lost. A screen or a variant of one that no
// frame shows fails, and so does a frame that no test holds.
func TestFrames(t *testing.T) {
	t.Parallel()
	d := &drawn{frames: map[string]bool{}, places: map[string]map[string]bool{}}
	t.Run("every", func(t *testing.T) {
		for _, tt := range shots() {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				tt.hold(t, d)
			})
		}
	})
	t.Run("enlarge", func(t *testing.T) {
		x := newWorld(t, thinking()).home(80, 24)
		x.Send(kit.Resize{W: 40, H: 12})
		x.Golden("enlarge-40x12", *update)
		d.frames["enlarge-40x12"] = true
	})
	if t.Failed() || len(d.frames) < len(sizes())*len(shots())+1 {
		return // some are wrong, or were not asked for
	}
	for _, place := range screens() {
		if len(d.places[place]) == 0 {
			t.Errorf("no golden frame shows %s; those that are there show %q", place, slices.Sorted(maps.Keys(d.places)))
		}
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d golden frames, %v", len(files), err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".txt"); !d.frames[name] {
			t.Errorf("no test holds the frame %s", f)
		}
	}
}

// hold holds what a journey leads to to its golden frames. The journey is made
// once, on the largest size: a resize keeps every state but a pending
// confirmation, which is begun anew.
func (s shot) hold(t *testing.T, d *drawn) {
	t.Helper()
	var w *world
	var x *kittest.Harness
	for _, size := range slices.Backward(sizes()) {
		if x == nil {
			w, x = s.begin(t, size[0], size[1])
			s.journey(w, x)
		} else {
			x.Send(kit.Resize{W: size[0], H: size[1]})
		}
		if strings.HasSuffix(s.name, "-armed") {
			x.Press(kit.Enter)
			x.Wants("ENTER TO CONFIRM")
		}
		text := fmt.Sprintf("%dx%d", size[0], size[1])
		x.Golden(s.name+"-"+text, *update)
		d.add(w.top, s.name, text)
	}
}

// placeName is a place with what makes another page of it.
func placeName(to any) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", to), "route.")
	add := func(what string, is bool) {
		if is {
			name += " " + what
		}
	}
	switch to := to.(type) {
	case route.Benchmarks:
		add("to run", to.ForRun)
	case route.Cover:
		add("of several", len(to.Draft.Picks) > 1)
	case route.Review:
		add("of several", len(to.Draft.Picks) > 1)
	case route.Continue:
		add("of a group", to.Group != nil)
	case route.Resume:
		add("of a group", to.Plan.Group != nil)
	case route.Stop:
		add("of a group", to.Group != "")
	case route.History:
		add("that ended", to.Finished && !to.Mark)
		add("to compare", to.Mark)
	case route.Groups:
		add("that ended", to.Finished)
	case route.Group:
		add("watched", to.Watch)
	case route.Compare:
		add("of a group", to.Group != "")
	case route.SignIn:
		add("by a code", to.ByCode)
		add("by a key", to.ByKey)
	}
	return name
}

// screens are the names of all places.
func screens() []string {
	return []string{
		"Home", "Benchmarks", "Benchmarks to run", "Benchmark", "Models", "Model", "Launch", "Cover", "Cover of several",
		"Review", "Review of several", "Continue", "Continue of a group", "Resume", "Resume of a group", "Live", "Stop", "Stop of a group",
		"Result", "Samples", "Sample", "History", "History that ended", "History to compare", "Groups", "Groups that ended", "Group",
		"Group watched", "Results", "Compare", "Compare of a group", "Billing", "Account", "SignIn", "SignIn by a code", "SignIn by a key", "Uploads",
	}
}

// A route that is added without a frame fails: all of those that a screen is made
// of are named above.
func TestFrames_NameEveryRoute(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "internal/route/route.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok || slices.Contains([]string{"Draft", "Pick", "Plan"}, spec.Name.Name) { // parts of places
			return true
		}
		n++
		if !slices.Contains(screens(), spec.Name.Name) {
			t.Errorf("no golden frame is asked of the route %s", spec.Name.Name)
		}
		return true
	})
	if n < 20 {
		t.Errorf("only %d routes were found", n)
	}
}
