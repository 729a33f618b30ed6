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

// playGroup submits the group, as a user does who repeats the same command until
// it is answered, and waits until every member has ended.
func (p *process) playGroup(ctx context.Context) error {
	file := p.path("quote-" + groupName)
	quote, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		quote, err = p.quoteGroup(ctx, file)
	}
	if err != nil {
		return err
	}
	admit := *p.admit
	admit.Engine = asleep{}
	out, err := admit.StartGroup(ctx, scope, admission.GroupRequest{
		Quote: core.GroupQuoteID(quote), Name: groupName, Once: core.Once{Op: "POST /groups", Key: "key-" + string(quote), Hash: "h"},
		Encode: func(g core.Group, _ []core.GroupMember) ([]byte, error) { return json.Marshal(g.ID) },
	})
	if err != nil {
		return err
	}
	g, err := p.store.Groups().Group(ctx, scope, core.GroupID(out.Run))
	if err != nil {
		return err
	}
	if len(g.Members) != len(members()) {
		return fmt.Errorf("the group has %d members", len(g.Members))
	}
	for _, id := range g.Members {
		p.engine.Wake(core.Local, id)
		if err := p.wait(ctx, id); err != nil {
			return err
		}
	}
	_, err = p.store.Groups().Events(ctx, g, 0, nil, 1000)
	return err
}

func (p *process) quoteGroup(ctx context.Context, file string) ([]byte, error) {
	var r admission.GroupQuoteRequest
	var total usd.Micro
	for _, c := range members() {
		b, err := p.catalog.Generate(ctx, "arithmetic", c.seed, c.tasks)
		if err != nil {
			return nil, err
		}
		total += c.cap
		r.Members = append(r.Members, admission.QuoteRequest{Profile: b.ID, Route: c.route(), Full: true, Concurrency: core.Concurrency{N: 1}})
	}
	r.Cap = &total
	q, err := p.admit.QuoteGroup(ctx, scope, r)
	if err != nil {
		return nil, err
	}
	return []byte(q.ID), os.WriteFile(file, []byte(q.ID), 0o600)
}
