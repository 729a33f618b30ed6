// Package sample writes the tasks of a run as exports hold them.
package sample

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Headline is the metric by which a task's score is named.
const Headline = "accuracy"

// Maker makes the records of a run's tasks, which are read in order. It is for
// one goroutine.
type Maker struct {
	*export.Reader
	run     export.Run
	profile string
	grader  api.GraderRecord
}

// New begins to read a run.
func New(s export.Source, r export.Run) *Maker {
	return &Maker{Reader: s.Reader(r), run: r, profile: string(r.Quote.Profile.ID), grader: Grader(r.Quote.Profile)}
}

// Of reads a task with its answer and what judges said about it.
func (m *Maker) Of(ctx context.Context, row export.Row) (api.ExportSample, error) {
	a, err := m.Answer(ctx, row)
	if err != nil {
		return api.ExportSample{}, err
	}
	judges, err := m.Judges(ctx, row)
	if err != nil {
		return api.ExportSample{}, err
	}
	origin, reused := lineage.Origin(row.Sample, m.run.ID)
	s := api.ExportSample{
		ProfileID: m.profile, TaskID: row.TaskID, Attempt: row.Attempt, Status: row.Status, Outcome: string(row.Outcome), ErrorCode: optional.Text(row.Code),
		Scores: Scores(row), Answer: a.Text, AnswerSHA256: optional.Text(a.SHA256), Usage: usage(a.Usage), ChargeMicrousd: row.Charge, FinishReason: optional.Text(a.Finish),
		Grader: m.grader, OriginRunID: origin, Reused: reused,
	}
	if a.Expired {
		s.AnswerWithheld = new("expired")
	}
	for _, j := range judges {
		s.Judges = append(s.Judges, reply(j))
	}
	return s, nil
}

// Scores is a task's score by its name, nil without one.
func Scores(row export.Row) map[string]float64 {
	if row.Score == nil {
		return nil
	}
	return map[string]float64{Headline: Finite(*row.Score)}
}

// Finite is a figure that JSON can hold.
func Finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// Grader identifies a grader; the hash is of its configuration as it was declared.
func Grader(p core.Profile) api.GraderRecord {
	sum := sha256.Sum256(p.GraderConfig)
	return api.GraderRecord{ID: p.Grader.ID, Version: p.Grader.Version, SHA256: hex.EncodeToString(sum[:])}
}

func usage(u *core.Usage) *api.SampleUsage {
	if u == nil {
		return nil
	}
	return &api.SampleUsage{InputTokens: u.InputTokens(), OutputTokens: u.OutputTokens()}
}

func reply(j export.Reply) api.JudgeReply {
	r := api.JudgeReply{
		RouteID: string(j.Route), Status: string(j.State), Reply: j.Text, Usage: usage(j.Usage), ChargeMicrousd: j.Spent, FinishReason: optional.Text(j.Finish), Nonce: j.Nonce,
	}
	if j.Expired {
		r.ReplyWithheld = new("expired")
	}
	return r
}
