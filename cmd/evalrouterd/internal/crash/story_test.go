package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// chapter is one run of the story. Together they take the engine through
// every way in which a call and a run can end.
type chapter struct {
	name  string
	seed  uint64
	tasks int
	cap   usd.Micro
	// fate is what becomes of each task, by its number in the benchmark.
	fate func(task, attempt int) fate
	// resumes names the chapter whose run this one goes on with; "" for none.
	resumes string
	// lost is how many tasks the provider loses by itself.
	lost int
	// ends is how the run must end.
	ends map[core.State]bool
	// together says that it is a member of the story's group, or, where it resumes
	// one, of the group that goes on with that.
	together bool
}

func (c chapter) route() core.RouteID { return core.RouteID("practice." + c.name) }

type fate int

const (
	right     fate = iota
	busy           // says to come back
	absent         // no connection
	refuses        // answers that it will not
	malformed      // an answer that cannot be read
	dear           // costs more than its bound
	silent         // reports no usage
	tooLong        // rejects the task
	lost           // works, and the answer never comes
	badKey         // rejects the credential
	later          // asks to wait for an hour
	cancels        // the user cancels while it works
	panics         // the adapter has a bug
)

// manyFates are those that a run lives through, one a task.
var manyFates = []fate{right, busy, absent, refuses, malformed, dear, silent, tooLong, lost, panics, later, right}

// chapters is never written.
var chapters = []chapter{
	{
		name: "many", seed: 11, tasks: len(manyFates), cap: 9000, lost: 2,
		fate: func(task, attempt int) fate {
			f := manyFates[task]
			if attempt > 1 && (f == busy || f == absent || f == later) {
				return right
			}
			return f
		},
		ends: map[core.State]bool{core.Partial: true},
	},
	{
		// The cap pays for two tasks, and for three where a death cost one: something
		// is always left that can be asked without consent to pay for it again.
		name: "capped", seed: 12, tasks: 5, cap: 380,
		fate: func(int, int) fate { return right },
		ends: map[core.State]bool{core.Partial: true},
	},
	{
		name: "resumed", resumes: "capped", tasks: 5, cap: 9000,
		fate: func(int, int) fate { return right },
		ends: map[core.State]bool{core.Completed: true, core.Partial: true},
	},
	{
		name: "rejected", seed: 13, tasks: 3, cap: 9000,
		fate: func(int, int) fate { return badKey },
		ends: map[core.State]bool{core.Failed: true},
	},
	{
		name: "cancelled", seed: 14, tasks: 4, cap: 9000,
		fate: func(int, int) fate { return cancels },
		ends: map[core.State]bool{core.Cancelled: true, core.Partial: true, core.Completed: true},
	},
	{
		name: lockedChapter, seed: 15, tasks: 2, cap: 9000,
		fate: func(int, int) fate { return right },
		ends: map[core.State]bool{core.Failed: true},
	},
	{
		// The cap pays for two tasks, and for three where a death cost one.
		name: "left", seed: 16, tasks: 4, cap: 380, together: true,
		fate: func(int, int) fate { return right },
		ends: map[core.State]bool{core.Partial: true},
	},
	{
		name: "right", seed: 16, tasks: 4, cap: 380, together: true,
		fate: func(int, int) fate { return right },
		ends: map[core.State]bool{core.Partial: true},
	},
	{
		name: "left again", resumes: "left", tasks: 4, cap: 9000, together: true,
		fate: func(int, int) fate { return right },
		ends: map[core.State]bool{core.Completed: true, core.Partial: true},
	},
	{
		name: "right again", resumes: "right", tasks: 4, cap: 9000, together: true,
		fate: func(int, int) fate { return right },
		ends: map[core.State]bool{core.Completed: true, core.Partial: true},
	},
}

// groupName is what the runs are called that are started together, and againName
// the quote of those that go on with them.
const (
	groupName = "together"
	againName = "together again"
)

// members are the chapters of the group, or of the one that goes on with it.
func members(again bool) (all []chapter) {
	for _, c := range chapters {
		if c.together && (c.resumes != "") == again {
			all = append(all, c)
		}
	}
	return all
}

// resumedBy is the chapter that goes on with one.
func resumedBy(name string) string {
	for _, c := range chapters {
		if c.resumes == name {
			return c.name
		}
	}
	panic("no chapter goes on with " + name)
}

// lockedChapter is the one whose credential cannot be opened.
const lockedChapter = "locked"

func chapterOf(route core.RouteID) chapter {
	for _, c := range chapters {
		if c.route() == route {
			return c
		}
	}
	panic("no chapter of " + string(route))
}

func routes() (all []core.Target) {
	for _, c := range chapters {
		all = append(all, core.Target{
			Kind: core.Managed, RouteID: c.route(), ModelID: "m", DisplayName: c.name, Provider: "practice", Protocol: core.PracticeProtocol,
			Revision: 1, Simulated: true, ContextWindow: 32768, MaxOutputTokens: 100, Priced: true,
			Prices:  core.Prices{Version: "c1", Input: usd.PerMillion(usd.Dollar), Output: usd.PerMillion(2 * usd.Dollar), Reasoning: usd.PerMillion(2 * usd.Dollar)},
			Ceiling: 8, Auto: 1, Status: "active",
		})
	}
	return all
}

// keys opens every credential but one.
type keys struct{}

func (keys) Key(_ context.Context, _ core.Scope, t core.Target) (provider.Secret, error) {
	if t.RouteID == chapterOf(core.RouteID("practice."+lockedChapter)).route() {
		return provider.Secret{}, errors.New("the key cannot be opened")
	}
	return provider.Secret{}, nil
}

// model is the provider. What it worked on it notes outside of the process:
// that is what it would bill.
type model struct{ p *process }

// Call implements provider.Adapter.
func (m *model) Call(_ context.Context, r provider.Request) provider.Outcome {
	c := chapterOf(r.Target.RouteID)
	question := c.name + " " + r.Gold.ID
	_, digits, _ := strings.Cut(r.Gold.ID, "-")
	task, err := strconv.Atoi(digits)
	if err != nil {
		panic(err)
	}
	f := c.fate(task, r.Attempt)
	m.p.r.point("provider: before a request is sent")
	m.p.note(sentFile, question)
	m.p.r.point("provider: a request is on its way")
	if o, rejected := rejection(f); rejected {
		m.p.r.point("provider: a rejection is on its way")
		return o
	}
	m.p.note(workedFile, question)
	m.p.r.point("provider: an answer is on its way")
	switch f {
	case lost:
		return provider.Outcome{Class: provider.Unknown, Code: "reset"}
	case panics:
		panic("a bug of the adapter")
	case cancels:
		m.cancel(c)
	}
	return answer(f, *r.Gold)
}

func rejection(f fate) (o provider.Outcome, ok bool) {
	switch f {
	case busy:
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429}, true
	case later:
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: time.Hour}, true
	case absent:
		return provider.Outcome{Class: provider.NotSent}, true
	case tooLong:
		return provider.Outcome{Class: provider.Rejected, Reach: provider.ThisTask, Status: 400}, true
	case badKey:
		return provider.Outcome{Class: provider.Rejected, Reach: provider.Connection, Status: 401}, true
	}
	return o, false
}

func answer(f fate, gold bundle.Task) provider.Outcome {
	text := bundle.Reply(gold, true, 1)
	o := provider.Outcome{Class: provider.Answered, Text: text, Finish: bundle.FinishStop, Raw: []byte(text), Status: 200, Usage: &core.Usage{Input: 40, Output: 20}}
	switch f {
	case dear:
		o.Usage = &core.Usage{Input: 400, Output: 400}
	case silent:
		o.Usage = nil
	case refuses:
		o.Refused = true
	case malformed:
		o.Malformed = true
	}
	return o
}

// cancel is the user of another window.
func (m *model) cancel(c chapter) {
	runs, err := m.p.runs()
	if err == nil {
		for _, r := range runs {
			if r.Name == c.name && !r.State.Terminal() {
				err = errors.Join(err, m.p.store.RequestCancel(context.Background(), scope, r.ID))
				m.p.engine.Wake(core.Local, r.ID)
			}
		}
	}
	if err != nil {
		panic(fmt.Sprint("cancel: ", err))
	}
}

// Render implements provider.Adapter.
func (m *model) Render(r provider.Request) ([]byte, error) { return json.Marshal(r.Messages) }

// Bound implements provider.Adapter.
func (m *model) Bound(provider.Request) int64 { return 100 }

// Parse implements provider.Adapter.
func (m *model) Parse(raw []byte) provider.Outcome {
	return provider.Outcome{Class: provider.Answered, Text: string(raw), Finish: bundle.FinishStop, Raw: raw}
}
