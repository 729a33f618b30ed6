package source

import (
	"context"
	"errors"
	"fmt"
	"io"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/report/comparison"
)

// Compare lays finished runs side by side, as the command line does: a function
// of their exports, which are read as streams and not kept. statistics tests each
// pair, for which the scores of every task are read too.
func (s *Source) Compare(ctx context.Context, runs []string, group string, statistics bool) (api.Comparison, error) {
	var all []comparison.Member
	for _, id := range runs {
		m, err := s.member(ctx, id, statistics)
		if err != nil {
			return api.Comparison{}, err
		}
		all = append(all, m)
	}
	c, err := comparison.Make(all, comparison.Options{GeneratedAt: s.Now(), GroupID: group, Statistics: statistics})
	var no *comparison.Mismatch
	if errors.As(err, &no) {
		return c, &flow.Error{Code: api.CompareMismatch, Message: no.Message, Facts: []string{"nothing was compared"}}
	}
	return c, err
}

func (s *Source) member(ctx context.Context, id string, scores bool) (m comparison.Member, err error) {
	m.Source.Kind = api.SourceSummary
	m.Summary, err = exported(ctx, s, id, evalrouter.FormatSummary, comparison.ReadSummary)
	if err != nil || !scores {
		return m, err
	}
	m.Scores, err = exported(ctx, s, id, evalrouter.FormatScores, comparison.ReadScores)
	return m, err
}

// exported reads an export while it arrives.
func exported[T any](ctx context.Context, s *Source, id, format string, read func(io.Reader) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	r, w := io.Pipe()
	got := make(chan answer, 1)
	go func() {
		v, err := read(r)
		if err == nil {
			_, err = io.Copy(io.Discard, r) // the checksum is of the whole file
		}
		r.CloseWithError(errFound)
		got <- answer{v, err}
	}()
	_, err := call(ctx, s, func(c *evalrouter.Client) (evalrouter.ExportInfo, error) {
		return c.Runs.Export(ctx, id, evalrouter.ExportQuery{Format: format}, w)
	})
	if err == nil {
		w.Close()
	} else {
		w.CloseWithError(err)
	}
	a := <-got
	switch {
	case err != nil && !errors.Is(err, errFound):
		return a.v, err
	case a.err != nil:
		return a.v, fmt.Errorf("read the export of run %s: %w", id, a.err)
	}
	return a.v, nil
}
