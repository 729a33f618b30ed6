package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// resumeTalk answers a resume's questions from the flags, and asks the person
// only for what the flags leave open and only if there is one.
type resumeTalk struct {
	desk
	dry bool
}

// resumeDesk is that for one run.
type resumeDesk struct{ resumeTalk }

var _ flow.ResumeDesk = (*resumeDesk)(nil)

// Quoted shows the quote to people; JSON readers get the final record.
func (d *resumeDesk) Quoted(_ context.Context, q api.QuoteRecord) error {
	d.RememberQuote(q)
	p := d.Term.ErrPage()
	showQuote(p, q)
	if q.Continuation != nil {
		showContinuation(p, *q.Continuation)
	}
	return p.Failure()
}

// Newest refuses scripts: they said yes to the run that they named.
func (d *resumeDesk) Newest(_ context.Context, asked string, newest api.RunRecord) error {
	next := []string{"evalrouter results " + newest.ID}
	if newest.Status != api.StatusCompleted {
		next = append(next, "evalrouter resume "+newest.ID)
	}
	return d.newest(&flow.Error{RunID: newest.ID}, "run", asked, newest.ID, newest.Status, next)
}

// LeaveOut asks for the one thing that no later resume can take back.
func (d *resumeDesk) LeaveOut(ctx context.Context, q api.QuoteRecord) (bool, error) {
	return d.leaveOut(ctx, q.Continuation.LeftOut)
}

// Approve asks the one question that spends.
func (d *resumeDesk) Approve(ctx context.Context, q api.QuoteRecord, anew bool) (bool, error) {
	return d.approve(ctx, fmt.Sprintf("Start resume with a %s cap?", command.Money(*q.MaxChargeMicrousd)), anew)
}

// newest tells of the newest of a chain, and refuses scripts with it.
func (d *resumeTalk) newest(e *flow.Error, name, asked, newest string, status api.RunStatus, next []string) error {
	if d.attended || d.dry {
		d.App.Note("%s %s was resumed before. This is about the newest %s of its chain, %s (%s).", strings.ToUpper(name[:1])+name[1:], asked, name, newest, status)
		return nil
	}
	e.Code, e.Message = api.ContinuationExists, fmt.Sprintf("%s %s was resumed before; the newest %s of its chain is %s (%s)", name, asked, name, newest, status)
	e.Facts = []string{"nothing was quoted, started or charged"}
	return command.WithNext(e, next...)
}

func (d *resumeTalk) leaveOut(ctx context.Context, left api.ContinuationLeftOut) (bool, error) {
	n := command.Count(left.Cells, "task")
	if !d.attended {
		return false, &flow.Error{
			Code: api.LeftOutUnacknowledged, Message: n + " would stay out of this and every later resume, and nobody can be asked here: " + flow.LeftOutReasons(left),
			Facts: []string{"nothing was started or charged"},
		}
	}
	return d.confirm(ctx, "Leave "+n+" out, for good?", "Leave out", "leave out")
}

// approve asks whether to start. --yes answers it, but not for anything else than
// what was named, nor for other terms.
func (d *resumeTalk) approve(ctx context.Context, question string, anew bool) (bool, error) {
	switch {
	case d.yes && !anew:
		return true, nil
	case !d.attended && anew:
		return false, &flow.Error{
			Code: api.QuoteChanged, Message: "the accepted quote is no longer valid and the new one has other terms",
			Facts: []string{"it stands above; nothing was started or charged"},
		}
	case !d.attended:
		return false, &flow.Error{Code: api.UnattendedRefused, Message: "there is no terminal to ask for the start", Facts: []string{"nothing was started or charged"}}
	}
	return d.confirm(ctx, question, "Start resume", "start")
}

func (d *resumeTalk) confirm(ctx context.Context, question, yes, word string) (bool, error) {
	ok, err := d.Term.Confirm(ctx, question, yes, "Cancel", word)
	if errors.Is(err, term.ErrDeclined) {
		return false, nil
	}
	return ok, err
}

// showContinuation prints what becomes of the tasks of the run that a quote
// continues.
func showContinuation(p *term.Page, c api.ContinuationPlan) {
	place := ""
	if n := len(c.ChainRunIDs); n > 1 {
		place = fmt.Sprintf(", the run number %d of its chain", n)
	}
	p.Line("  Continues    run %s%s", c.SourceRunID, place)
	p.Line("  Reused       %s already graded, at $0.00", command.Count(c.ReusedCells, "task"))
	if c.SavedResponseCells > 0 {
		p.Line("  Saved        %s, graded at $0.00 without a request", command.Count(c.SavedResponseCells, "recorded answer"))
	}
	p.Line("  Run now      %s%s", command.Count(c.RerunCells, "task"), stoppedNote(c))
	if c.Pending.Cells > 0 {
		p.Line("  Pending      %s, looked at again by a later resume: %s%s", command.Count(c.Pending.Cells, "task"), flow.PendingReasons(c.Pending), recheck(c.Pending))
	}
	if u := c.UnknownRetry; u.Cells > 0 && u.Selected {
		p.Line("  Unknown      %s of unknown outcome, asked and paid for again; the earlier attempt is never charged%s", command.Count(u.Cells, "task"), twice(u))
	} else if u.Cells > 0 {
		p.Line("  Unknown      %s may have been processed: --retry-unknown pays for a new attempt%s", command.Count(u.Cells, "task"), twice(u))
	}
	if c.LeftOut.Cells > 0 {
		p.Line("  Left out     %s, for good, in this and every later resume: %s", command.Count(c.LeftOut.Cells, "task"), flow.LeftOutReasons(c.LeftOut))
	}
	p.Line("  Evidence     kept until %s", c.EvidenceExpiresAt.Local().Format("2 Jan 2006 15:04"))
}

func stoppedNote(c api.ContinuationPlan) string {
	n := c.CancelledCells + c.TimeLimitCells
	if !c.IncludeCancelled || n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them stopped by a person or the time limit before", command.Thousands(n))
}

func recheck(c api.ContinuationPending) string {
	if c.RecheckAfter == nil {
		return ""
	}
	return ", after " + c.RecheckAfter.Local().Format("2 Jan 15:04")
}

func twice(u api.ContinuationRetry) string {
	if !u.ProviderMayBillAgain {
		return ""
	}
	return ". Your provider may bill both attempts"
}
