package review

import (
	"context"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// What a launch says to the screen.
type (
	// quoted is an offer that cannot be approved yet.
	quoted struct{ offer offer }
	// asked is the question that spends.
	asked struct {
		offer  offer
		before *offer
		at     time.Time
		answer func(bool)
	}
	// question is any other one, which spends nothing.
	question struct {
		text, yes plain.Safe
		answer    func(bool)
	}
	noted struct{ text string }
	// ended is what the launch led to: a place, or an error.
	ended struct {
		to  any
		err error
	}
)

// desk brings the questions of a launch to the screen and waits for the answer
// of the person. The end of ctx, when the screen is left, is no consent.
type desk struct {
	emit func(kit.Msg)
	now  func() time.Time
	cap  usd.Micro
}

// Note tells.
func (d desk) Note(text string) { d.emit(noted{text}) }

func (d desk) ask(ctx context.Context, question func(answer func(bool)) kit.Msg) (bool, error) {
	answers := make(chan bool, 1)
	d.emit(question(func(yes bool) {
		select {
		case answers <- yes:
		default: // answered already
		}
	}))
	select {
	case yes := <-answers:
		return yes, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (d desk) approve(ctx context.Context, o offer, before *offer) (bool, error) {
	return d.ask(ctx, func(answer func(bool)) kit.Msg { return asked{o, before, d.now(), answer} })
}

// again asks whether to do once more what has just ended.
func (d desk) again(ctx context.Context, what, id string, status api.RunStatus) (bool, error) {
	return d.ask(ctx, func(answer func(bool)) kit.Msg {
		return question{
			show.F("%s %s did the same and has just ended (%s).", what, show.Short(id), status),
			"Run it again, as separate work (a quote comes first)", answer,
		}
	})
}

// leave asks whether tasks may stay out for good.
func (d desk) leave(ctx context.Context, left api.ContinuationLeftOut) (bool, error) {
	n := show.Plural(left.Cells, "task")
	return d.ask(ctx, func(answer func(bool)) kit.Msg {
		return question{
			show.F("%s would stay out of this and every later resume: %s.", n, flow.LeftOutReasons(left)),
			show.F("Leave %s out, for good (nothing starts yet)", n), answer,
		}
	})
}

// newest tells that what was asked for was resumed before.
func (d desk) newest(asked, newest, id, newestID string, status api.RunStatus) {
	d.Note(fmt.Sprintf("%s %s was resumed before. This is about the newest %s of its chain, %s (%s).", asked, show.Short(id), newest, show.Short(newestID), status))
}

// runDesk is the desk of one run.
type runDesk struct{ desk }

var _ flow.Desk = runDesk{}

// Quoted shows the quote.
func (d runDesk) Quoted(_ context.Context, q api.QuoteRecord) error {
	d.emit(quoted{ofRun(q)})
	return nil
}

// Cap is what was chosen before.
func (d runDesk) Cap(context.Context, api.QuoteRecord) (usd.Micro, error) { return d.cap, nil }

// Approve asks for the two Enters.
func (d runDesk) Approve(ctx context.Context, q api.QuoteRecord, before *api.QuoteRecord) (bool, error) {
	var old *offer
	if before != nil {
		o := ofRun(*before)
		old = &o
	}
	return d.approve(ctx, ofRun(q), old)
}

// Repeat asks whether to start again.
func (d runDesk) Repeat(ctx context.Context, run api.RunRecord) (bool, error) {
	return d.again(ctx, "Run", run.ID, run.Status)
}

// groupDesk is the desk of a group.
type groupDesk struct{ desk }

var _ flow.GroupDesk = groupDesk{}

// Quoted shows the quote.
func (d groupDesk) Quoted(_ context.Context, q api.GroupQuoteRecord) error {
	d.emit(quoted{ofGroup(q)})
	return nil
}

// Cap is what was chosen before.
func (d groupDesk) Cap(context.Context, api.GroupQuoteRecord) (usd.Micro, error) { return d.cap, nil }

// Approve asks for the two Enters.
func (d groupDesk) Approve(ctx context.Context, q api.GroupQuoteRecord, before *api.GroupQuoteRecord) (bool, error) {
	var old *offer
	if before != nil {
		o := ofGroup(*before)
		old = &o
	}
	return d.approve(ctx, ofGroup(q), old)
}

// Repeat asks whether to start again.
func (d groupDesk) Repeat(ctx context.Context, g api.GroupRecord) (bool, error) {
	return d.again(ctx, "Group", g.ID, g.Status)
}

// resumeDesk is the desk of a continuation.
type resumeDesk struct{ desk }

var _ flow.ResumeDesk = resumeDesk{}

// Quoted shows the quote.
func (d resumeDesk) Quoted(_ context.Context, q api.QuoteRecord) error {
	d.emit(quoted{ofResume(q)})
	return nil
}

// Cap is what was chosen before.
func (d resumeDesk) Cap(context.Context, api.QuoteRecord) (usd.Micro, error) { return d.cap, nil }

// LeaveOut asks for the one thing that no later resume can take back.
func (d resumeDesk) LeaveOut(ctx context.Context, q api.QuoteRecord) (bool, error) {
	return d.leave(ctx, q.Continuation.LeftOut)
}

// Newest tells that another run of the chain is the one to go on with.
func (d resumeDesk) Newest(_ context.Context, asked string, newest api.RunRecord) error {
	d.newest("Run", "run", asked, newest.ID, newest.Status)
	return nil
}

// Approve asks for the two Enters.
func (d resumeDesk) Approve(ctx context.Context, q api.QuoteRecord, _ bool) (bool, error) {
	return d.approve(ctx, ofResume(q), nil)
}

// regroupDesk is the desk of a group's continuation.
type regroupDesk struct{ desk }

var _ flow.GroupResumeDesk = regroupDesk{}

// Quoted shows the quote.
func (d regroupDesk) Quoted(_ context.Context, q api.GroupQuoteRecord) error {
	d.emit(quoted{ofGroup(q)})
	return nil
}

// Cap is what was chosen before.
func (d regroupDesk) Cap(context.Context, api.GroupQuoteRecord) (usd.Micro, error) { return d.cap, nil }

// LeaveOut asks once for all members.
func (d regroupDesk) LeaveOut(ctx context.Context, q api.GroupQuoteRecord) (bool, error) {
	return d.leave(ctx, flow.GroupLeftOut(q))
}

// Newest tells that another group of the chain is the one to go on with.
func (d regroupDesk) Newest(_ context.Context, asked string, newest api.GroupRecord) error {
	d.newest("Group", "group", asked, newest.ID, newest.Status)
	return nil
}

// Approve asks for the two Enters.
func (d regroupDesk) Approve(ctx context.Context, q api.GroupQuoteRecord, _ bool) (bool, error) {
	return d.approve(ctx, ofGroup(q), nil)
}
