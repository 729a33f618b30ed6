package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// GroupContinuationRequest asks to go on with every member of a group that has
// something left. The cap is of all of them together; without one the quote is a
// preview. RetryMax bounds the tasks of unknown outcome of all members together.
type GroupContinuationRequest struct {
	Group    core.GroupID
	Cap      *usd.Micro
	Flags    core.Flags
	RetryMax *int
}

// ContinueGroup quotes the continuations of a group's members under one cap. Each
// is quoted from the newest run of its chain. A member that cannot be continued
// stands aside with the reason; where that is true of all, nothing is quoted.
// Only the newest group of a chain is quoted.
func (s *Service) ContinueGroup(ctx context.Context, sc core.Scope, r GroupContinuationRequest) (core.GroupQuote, error) {
	if err := bounded(r.Cap); err != nil {
		return core.GroupQuote{}, err
	}
	chain, err := s.unresumed(ctx, sc, r.Group, "quoted")
	if err != nil {
		return core.GroupQuote{}, err
	}
	now := s.Store.Now()
	g := core.GroupQuote{
		ID: core.GroupQuoteID(s.NewID()), Workspace: sc.Workspace, Name: chain[0].Name, Preview: r.Cap == nil, CreatedAt: now, ExpiresAt: now + core.QuoteLife,
		Continuation: &core.GroupContinuation{Source: r.Group},
	}
	for place, run := range chain[0].Members {
		if err := s.regroup(ctx, sc, r, &g, place, run); err != nil {
			return core.GroupQuote{}, err
		}
	}
	if err := continued(g, r); err != nil {
		// Where somebody has resumed the group since its chain was read, its members
		// run again: that is the reason then, not that they have not ended.
		if _, resumed := s.unresumed(ctx, sc, r.Group, "quoted"); resumed != nil {
			err = resumed
		}
		return core.GroupQuote{}, err
	}
	for i := range g.Members {
		g.Members[i].CreatedAt, g.Members[i].ExpiresAt, g.Members[i].Preview = g.CreatedAt, g.ExpiresAt, g.Preview
	}
	if r.Cap == nil {
		return g, nil
	}
	g.Cap = *r.Cap
	if err := split(&g, make([]*usd.Micro, len(g.Members))); err != nil {
		return core.GroupQuote{}, err
	}
	return g, s.Groups.PutQuote(ctx, g)
}

// unresumed is the chain that a group is the newest of. One that was resumed is
// refused with the newest, whatever became of its members since: what was not done
// stands in the refusal.
func (s *Service) unresumed(ctx context.Context, sc core.Scope, id core.GroupID, undone string) ([]core.Group, error) {
	chain, err := s.Groups.Lineage(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	if newest := chain[len(chain)-1]; newest.ID != id {
		return nil, core.Refuse(core.ContinuationExists, "group %s was resumed already; the newest group of its chain is %s. Nothing was %s or charged", id, newest.ID, undone).
			With("group_id", string(newest.ID))
	}
	return chain, nil
}

// regroup quotes one member from the newest run of its chain, or puts it aside.
func (s *Service) regroup(ctx context.Context, sc core.Scope, r GroupContinuationRequest, g *core.GroupQuote, place int, first core.RunID) error {
	head, was, err := s.Newest(ctx, sc, first)
	if err != nil {
		return err
	}
	aside := func(reason string) {
		g.Continuation.Aside = append(g.Continuation.Aside, core.Aside{Place: place, Run: head.ID, Reason: reason})
	}
	// What its row tells is told without reading its tasks.
	if why := head.ResumeReason(was, s.Store.Now()); why != "" {
		aside(why)
		return nil
	}
	q, err := s.continuation(ctx, sc, ContinuationRequest{Run: head.ID, Flags: r.Flags})
	var no *core.Refusal
	if errors.As(err, &no) {
		aside(reasonOf(no))
		return nil
	}
	if err != nil {
		return fmt.Errorf("quote the continuation of run %s: %w", head.ID, err)
	}
	q.Group = g.ID
	g.ExpiresAt = min(g.ExpiresAt, q.ExpiresAt)
	g.Members = append(g.Members, q)
	g.Continuation.Places = append(g.Continuation.Places, place)
	return nil
}

// reasonOf is the reason of a refusal as records have it. Of a member with nothing
// left but what somebody stopped, it is that: it can still be had.
func reasonOf(no *core.Refusal) string {
	if n, ok := no.Details["stopped"].(int); ok && n > 0 && no.Code == core.NothingToResume {
		return core.WhyCancelled
	}
	if why, ok := no.Details["reason"].(string); ok && no.Code == core.ResumeUnsupported {
		return why
	}
	return string(no.Code)
}

// continued refuses a quote that would start nothing, and one with more tasks of
// unknown outcome than may be asked again.
func continued(g core.GroupQuote, r GroupContinuationRequest) error {
	retried := 0
	for _, m := range g.Members {
		retried += m.Continuation.Cells.Retried
	}
	if r.RetryMax != nil && retried > *r.RetryMax {
		return core.Refuse(core.RetryUnknownLimit, "%d tasks of this group have an unknown outcome, more than the %d that may be asked again; nothing was quoted or charged", retried, *r.RetryMax).
			With("cells", retried).With("max", *r.RetryMax)
	}
	if len(g.Members) > 0 {
		return nil
	}
	var active int
	members := []map[string]any{}
	for _, a := range g.Continuation.Aside {
		if a.Reason == string(core.RunNotFinished) {
			active++
		}
		members = append(members, map[string]any{"member": a.Place, "run_id": string(a.Run), "reason": a.Reason})
	}
	if active > 0 {
		return core.Refuse(core.RunNotFinished, "%d of %d members of this group have not ended, and nothing of the others can be resumed: watch it instead; nothing was quoted or charged", active, len(members)).
			With("members", members)
	}
	return core.Refuse(core.NothingToResume, "nothing of this group can be resumed; nothing was quoted or charged").With("members", members)
}
