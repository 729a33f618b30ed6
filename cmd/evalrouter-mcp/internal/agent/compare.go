package agent

import (
	"context"
	"errors"
	"io"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/report/comparison"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type someRuns struct {
	RunIDs []string `json:"run_ids" jsonschema:"the whole ids of 2 to 8 ended runs of the same tasks"`
}

// comparisons lay ended runs side by side.
func (d *Desk) comparisons(s *mcp.Server) {
	add(s, d, tool{"compare_runs", "Compare runs", "Ended runs of the same tasks side by side, each pair tested task by task: better, worse or not shown. Nothing is graded again. Free.", false}, d.compare)
}

func (d *Desk) compare(ctx context.Context, c *evalrouter.Client, in someRuns) (any, error) {
	if n := len(in.RunIDs); n < 2 || n > comparison.MaxRuns {
		return nil, invalid("name 2 to %d runs", comparison.MaxRuns)
	}
	var members []comparison.Member
	for _, id := range in.RunIDs {
		m, err := member(ctx, c, id)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	doc, err := comparison.Make(members, comparison.Options{GeneratedAt: d.Now(), Version: d.Version, Statistics: true})
	var no *comparison.Mismatch
	if errors.As(err, &no) {
		return nil, &flow.Error{Code: api.CompareMismatch, Message: no.Message, Facts: []string{"nothing was compared"}}
	}
	return doc, err
}

func member(ctx context.Context, c *evalrouter.Client, id string) (m comparison.Member, err error) {
	if !flow.WholeID(id) {
		return m, invalid("run_ids are whole ids of runs")
	}
	src, err := export(ctx, c, id, evalrouter.FormatSummary, api.SourceSummary, func(r io.Reader) (err error) {
		m.Summary, err = comparison.ReadSummary(r)
		return err
	})
	if err != nil {
		return m, err
	}
	m.Source = src
	scores, err := export(ctx, c, id, evalrouter.FormatScores, api.SourceScores, func(r io.Reader) (err error) {
		m.Scores, err = comparison.ReadScores(r)
		return err
	})
	m.ScoresFile = &scores
	return m, err
}

// export reads an export as it comes; none is held whole.
func export(ctx context.Context, c *evalrouter.Client, id, format, kind string, read func(io.Reader) error) (api.ComparedSource, error) {
	in, out := io.Pipe()
	var info evalrouter.ExportInfo
	var sent error
	done := make(chan struct{})
	go func() {
		defer close(done)
		info, sent = c.Runs.Export(ctx, id, evalrouter.ExportQuery{Format: format}, out)
		_ = out.CloseWithError(sent) // it never fails
	}()
	err := read(in)
	if err == nil {
		_, err = io.Copy(io.Discard, in) // what stands behind counts for the hash
	}
	_ = in.CloseWithError(err)
	<-done
	if sent != nil && (err == nil || errors.Is(err, sent)) {
		return api.ComparedSource{}, sent
	}
	return api.ComparedSource{Path: id + "." + kind, SHA256: info.SHA256, Bytes: info.Bytes, Kind: kind}, err
}
