// Package judging has models judge traces, by the one way in which anything here
// is paid for.
//
//	prepare   traces become the questions of a private benchmark
//	(a person quotes and runs that benchmark, under a cap)
//	take      the answers of a run that ended become evaluations and findings
//
// Each step may be repeated after a crash. The id of the source follows from the
// evaluator, its revision and the questions, so that the same questions make one
// benchmark; and of a trace, the same revision of a judge keeps one evaluation,
// whichever run came first.
package judging

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/judge"
)

// Kept is what is kept of traces and of what was said about them.
type Kept interface {
	Evaluator(context.Context, core.Scope, core.EvaluatorID) (core.Evaluator, error)
	EachRecent(ctx context.Context, sc core.Scope, limit int, visit func(core.Trace, []core.Span) error) error
	EachOf(ctx context.Context, sc core.Scope, ids []core.TraceID, visit func(core.Trace, []core.Span) error) error
	JudgedBy(ctx context.Context, sc core.Scope, e core.EvaluatorID, revision int, traces []core.TraceID) (map[core.TraceID]bool, error)
	KeepJudged(ctx context.Context, sc core.Scope, e core.Evaluator, all []core.Judged, newID func() string) (core.JudgedFate, error)
	Evaluations(ctx context.Context, sc core.Scope, id core.TraceID, after *core.Place, limit int) ([]core.Judged, error)
}

// Runs reads runs.
type Runs interface {
	Run(context.Context, core.Scope, core.RunID) (core.Run, error)
	Quote(context.Context, core.Scope, core.QuoteID) (core.QuoteState, error)
}

// Service is safe for concurrent use. Own is nil where workspaces bring no
// benchmarks: then nothing is judged.
type Service struct {
	Kept Kept
	Own  *byob.Service
	Runs Runs
	// Answers reads what was answered in a run.
	Answers export.Source
	NewID   func() string
	Now     func() core.Micros
}

// Questions is what became of the traces that are to be judged.
type Questions struct {
	Evaluator core.Evaluator
	// Profile is the benchmark of the questions, "" when there is none to ask.
	Profile core.ProfileID
	Asked   int
	// Judged counts traces that this revision judged before, Growing those that are
	// not complete yet.
	Judged, Growing int
}

// MaxAsked is how many traces become questions at a time, at most.
const MaxAsked = traces.MaxLook

// Prepare makes a benchmark of questions about the newest traces that are
// complete, or about those that are named. It spends nothing.
func (s *Service) Prepare(ctx context.Context, sc core.Scope, id core.EvaluatorID, ids []core.TraceID, limit int) (out Questions, err error) {
	if out.Evaluator, err = s.Kept.Evaluator(ctx, sc, id); err != nil {
		return out, err
	}
	e := out.Evaluator
	switch {
	case e.Rule != core.RuleJudge:
		return out, core.Refuse(core.InvalidRequest, "the evaluator %s is a rule and asks no model; nothing was made", e.Name)
	case e.Paused:
		return out, core.Refuse(core.EvaluatorPaused, "the evaluator %s is paused; nothing was made", e.Name)
	case s.Own == nil:
		return out, core.Refuse(core.FeatureUnavailable, "this service takes no benchmarks of your own, which the questions of a judge are: its operator has switched them off; nothing was made").With("feature", "private_benchmarks")
	}
	settings, err := judge.Read(e.Config)
	if err != nil {
		return out, err
	}
	lines, err := s.rows(ctx, sc, settings, ids, limit, &out)
	if err != nil || out.Asked == 0 {
		return out, err
	}
	src, err := s.source(ctx, sc, e, lines)
	if err != nil {
		return out, err
	}
	options, err := json.Marshal(map[string]string{"pattern": judge.Pattern})
	if err != nil {
		return out, err
	}
	made, err := s.Own.Create(ctx, sc, byob.Manifest{
		Name: "Judge " + e.Name, Source: src.URI, SHA256: src.SHA256, Bytes: src.Bytes, Task: generic.RegexMatch, Options: options, MaxOutputTokens: settings.MaxOutputTokens,
		Columns:  map[string][]string{"id": {"id"}, "answer": {"answer"}, "question": {"question"}},
		Template: "{{question}}", License: pack.NotGranted, Rights: true,
	}, core.Once{Op: "judge traces", Key: string(src.ID), Hash: src.SHA256}, func(b core.OwnBenchmark) ([]byte, error) { return []byte(b.Profile), nil })
	out.Profile = core.ProfileID(made.Body)
	var bad *byob.Invalid
	var rows *byob.RowsInvalid
	if errors.As(err, &bad) || errors.As(err, &rows) {
		err = core.Refuse(core.ManifestInvalid, "the questions cannot be a benchmark: %s", err)
	}
	return out, err
}

type row struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// rows are the questions, a line of JSON each.
func (s *Service) rows(ctx context.Context, sc core.Scope, settings judge.Settings, ids []core.TraceID, limit int, out *Questions) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	now := s.Now()
	ask := func(t core.Trace, spans []core.Span) error {
		if t.Completeness(now) == core.TraceCollecting {
			out.Growing++
			return nil
		}
		before, err := s.Kept.JudgedBy(ctx, sc, out.Evaluator.ID, out.Evaluator.Revision, []core.TraceID{t.ID})
		switch {
		case err != nil:
			return err
		case before[t.ID]:
			out.Judged++
			return nil
		}
		out.Asked++
		return enc.Encode(row{string(t.ID), settings.Question(t, spans), judge.Expected})
	}
	var err error
	if len(ids) > 0 {
		err = s.Kept.EachOf(ctx, sc, ids, ask)
	} else {
		err = s.Kept.EachRecent(ctx, sc, limit, ask)
	}
	return b.Bytes(), err
}

// maxMade bounds how often the same questions are made a source again.
const maxMade = 20

// source keeps the questions, once. One that was archived gets a successor.
func (s *Service) source(ctx context.Context, sc core.Scope, e core.Evaluator, rows []byte) (src core.DataSource, err error) {
	sum := sha256.Sum256(rows)
	own := *s.Own
	for n := range maxMade {
		id := sourceID(e, sum[:], n)
		own.NewID = func() string { return string(id) }
		src, err = own.Sources.Source(ctx, sc, id)
		if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
			src, err = own.Begin(ctx, sc, byob.NewSource{FileName: "questions.jsonl", Format: core.FormatJSONL, Bytes: int64(len(rows)), SHA256: hex.EncodeToString(sum[:])})
		}
		if err != nil {
			return src, err
		}
		if src.Status == core.SourcePending {
			src, err = own.Upload(ctx, sc, src.ID, byob.Part{Whole: true}, bytes.NewReader(rows))
		}
		if err != nil || src.Status == core.SourceCompleted {
			return src, err
		}
	}
	return src, core.Refuse(core.SourceQuota, "these questions were made a source %d times, and each was archived; nothing was made. Judge other traces", maxMade)
}

func sourceID(e core.Evaluator, sum []byte, n int) core.SourceID {
	id := fmt.Sprintf("judge-%s-r%d-%s", e.ID, e.Revision, hex.EncodeToString(sum[:8]))
	if n > 0 {
		id += "-" + strconv.Itoa(n+1)
	}
	return core.SourceID(id)
}

// origin reads a source's address back: which evaluator asks, in which revision.
// Ids of sources are the service's own, so that nobody can bring such an address.
var origin = regexp.MustCompile(`^workspace://judge-([0-9a-f-]{1,64})-r([0-9]+)-[0-9a-f]{16}(?:-[0-9]+)?/questions\.jsonl$`)

// Taken is what became of the answers of a run.
type Taken struct {
	Evaluator core.Evaluator
	Revision  int
	core.JudgedFate
	// Passed and Failed count verdicts, NoVerdict answers that are none, and
	// NotAsked traces that the run got no answer about.
	Passed, Failed, NoVerdict, NotAsked int
}

// Take makes evaluations of what was answered in a run that has ended, and
// findings of traces that failed. Taking again changes nothing.
func (s *Service) Take(ctx context.Context, sc core.Scope, id core.RunID) (out Taken, err error) {
	if s.Own == nil {
		return out, core.Refuse(core.FeatureUnavailable, "this service takes no benchmarks of your own, which the questions of a judge are; nothing was taken over").With("feature", "private_benchmarks")
	}
	r, err := s.Runs.Run(ctx, sc, id)
	if err != nil {
		return out, err
	}
	q, err := s.Runs.Quote(ctx, sc, r.QuoteID)
	if err != nil {
		return out, err
	}
	b, err := s.Own.Benchmarks.Benchmark(ctx, sc, q.Profile.ID)
	m := origin.FindStringSubmatch(b.SourceURI)
	switch {
	case err != nil && !errors.Is(err, &core.Refusal{Code: core.NotFound}):
		return out, err
	case err != nil || m == nil:
		return out, core.Refuse(core.InvalidRequest, "run %s asked no judge about traces; nothing was taken over", id)
	case !r.State.Terminal():
		return out, core.Refuse(core.RunNotFinished, "run %s has not ended; nothing was taken over. Do it again when it has", id)
	}
	if out.Evaluator, err = s.Kept.Evaluator(ctx, sc, core.EvaluatorID(m[1])); err != nil {
		return out, err
	}
	if out.Revision, err = strconv.Atoi(m[2]); err != nil {
		return out, err
	}
	all, err := s.said(ctx, export.Run{Run: r, Quote: q.Quote, RawExpired: s.Now() >= r.RawUntil()}, &out)
	if err != nil {
		return out, err
	}
	out.JudgedFate, err = s.Kept.KeepJudged(ctx, sc, out.Evaluator, all, s.NewID)
	return out, err
}

// maxWhy bounds what is kept of a judge's reason.
const maxWhy = 2_000

// said reads the verdicts of a run.
func (s *Service) said(ctx context.Context, r export.Run, out *Taken) (all []core.Judged, err error) {
	answers := s.Answers.Reader(r)
	for row, err := range s.Answers.Rows(ctx, r, 0) {
		if err != nil {
			return nil, err
		}
		a, err := answers.Answer(ctx, row)
		if err != nil {
			return nil, err
		}
		if a.Text == nil {
			out.NotAsked++
			continue
		}
		said, why := judge.Answer(*a.Text)
		if said == "" {
			out.NoVerdict++
			continue
		}
		j := core.Judged{Trace: core.TraceID(row.TaskID), Evaluator: out.Evaluator.ID, Revision: out.Revision, Label: said, Why: short(why), Run: r.ID, Cost: row.Charge}
		if said == judge.Fail {
			out.Failed++
			h := core.Hit{Signature: judge.Fail, Title: "A judge says that it failed: " + out.Evaluator.Name, Detail: j.Why}
			j.Found = &core.Occurrence{Hit: h, Fingerprint: traces.Fingerprint(out.Evaluator, h), Trace: j.Trace}
		} else {
			out.Passed++
		}
		all = append(all, j)
	}
	return all, nil
}

func short(why string) string {
	why = core.Storable(why)
	for n := maxWhy; len(why) > maxWhy; n-- {
		if utf8.RuneStart(why[n]) {
			return why[:n]
		}
	}
	return why
}
