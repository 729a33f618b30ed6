package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// asleep wakes nobody: the members are taken up one after the other, so that
// what is written comes in the same order each time.
type asleep struct{}

func (asleep) Wake(core.WorkspaceID, core.RunID) {}

// playGroup submits a group, as a user does who repeats the same command until it
// is answered, and waits until every member has ended.
func (p *process) playGroup(ctx context.Context, name string, size int, quote func(context.Context) (core.GroupQuoteID, error)) (core.GroupID, error) {
	file := p.path("quote-" + name)
	kept, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		var id core.GroupQuoteID
		if id, err = quote(ctx); err == nil {
			kept = []byte(id)
			err = os.WriteFile(file, kept, 0o600)
		}
	}
	if err != nil {
		return "", err
	}
	admit := *p.admit
	admit.Engine = asleep{}
	out, err := admit.StartGroup(ctx, scope, admission.GroupRequest{
		Quote: core.GroupQuoteID(kept), Name: name, Once: core.Once{Op: "POST /groups", Key: "key-" + string(kept), Hash: "h"},
		Encode: func(g core.Group, _ []core.GroupMember) ([]byte, error) { return json.Marshal(g.ID) },
	})
	if err != nil {
		return "", err
	}
	g, err := p.store.Groups().Group(ctx, scope, core.GroupID(out.Run))
	if err != nil {
		return "", err
	}
	if len(g.Members) != size {
		return "", fmt.Errorf("the group has %d members", len(g.Members))
	}
	for _, id := range g.Members {
		p.engine.Wake(core.Local, id)
		if err := p.wait(ctx, id); err != nil {
			return "", err
		}
	}
	_, err = p.store.Groups().Events(ctx, g, 0, nil, 1000)
	return g.ID, err
}

func (p *process) quoteGroup(ctx context.Context) (core.GroupQuoteID, error) {
	var r admission.GroupQuoteRequest
	total := caps(members(false))
	for _, c := range members(false) {
		b, err := p.catalog.Generate(ctx, "arithmetic", c.seed, c.tasks)
		if err != nil {
			return "", err
		}
		r.Members = append(r.Members, admission.QuoteRequest{Profile: b.ID, Route: c.route(), Full: true, Concurrency: core.Concurrency{N: 1}})
	}
	r.Cap = &total
	q, err := p.admit.QuoteGroup(ctx, scope, r)
	return q.ID, err
}

// regroup quotes what is left of a group.
func (p *process) regroup(ctx context.Context, id core.GroupID) (core.GroupQuoteID, error) {
	total := caps(members(true))
	q, err := p.admit.ContinueGroup(ctx, scope, admission.GroupContinuationRequest{Group: id, Cap: &total})
	return q.ID, err
}

func caps(of []chapter) (total usd.Micro) {
	for _, c := range of {
		total += c.cap
	}
	return total
}
