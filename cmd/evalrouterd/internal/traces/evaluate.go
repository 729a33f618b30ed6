package traces

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/judge"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/rule"
)

// Findings keeps evaluators and what they found.
type Findings interface {
	AddEvaluator(context.Context, core.Evaluator) error
	Evaluator(context.Context, core.Scope, core.EvaluatorID) (core.Evaluator, error)
	Evaluators(ctx context.Context, sc core.Scope, after *core.Place, limit int) ([]core.Evaluator, error)
	ChangeEvaluator(ctx context.Context, sc core.Scope, id core.EvaluatorID, change func(*core.Evaluator) error) error
	Found(ctx context.Context, sc core.Scope, e core.Evaluator, all []core.Occurrence, newID func() string) (fresh int, err error)
	Finding(context.Context, core.Scope, core.FindingID) (core.Finding, error)
	ChangeFinding(ctx context.Context, sc core.Scope, id core.FindingID, change func(*core.Finding) error) error
}

// Recent reads the newest traces, each with its steps.
type Recent interface {
	// EachRecent visits at most limit traces, those first that started last.
	EachRecent(ctx context.Context, sc core.Scope, limit int, visit func(core.Trace, []core.Span) error) error
}

// Evaluation looks at traces by rules.
type Evaluation struct {
	Findings
	Recent Recent
	NewID  func() string
	Now    func() core.Micros
}

// MaxLook is how many traces one look covers, at most.
const MaxLook = 1_000

// Create makes an evaluator. A look is asked for by itself.
func (v *Evaluation) Create(ctx context.Context, sc core.Scope, e core.Evaluator) (core.Evaluator, error) {
	e.ID, e.Workspace, e.Revision, e.Name = core.EvaluatorID(v.NewID()), sc.Workspace, 1, strings.TrimSpace(e.Name)
	if err := checkEvaluator(e); err != nil {
		return e, err
	}
	if err := v.AddEvaluator(ctx, e); err != nil {
		return e, err
	}
	return v.Evaluator(ctx, sc, e.ID)
}

func checkEvaluator(e core.Evaluator) error {
	switch {
	case e.Name == "" || utf8.RuneCountInString(e.Name) > maxName:
		return wrong("name", "a name has 1 to 100 characters; nothing was changed")
	case e.Severity != "info" && e.Severity != "warning" && e.Severity != "error":
		return wrong("severity", "a severity is info, warning or error; nothing was changed")
	}
	check := func() error { return rule.Check(e.Rule, e.Config) }
	if e.Rule == core.RuleJudge {
		check = func() error { _, err := judge.Read(e.Config); return err }
	}
	if err := check(); err != nil {
		return wrong("config", err.Error()+"; nothing was changed")
	}
	return nil
}

// Update changes an evaluator. Other settings are another revision.
func (v *Evaluation) Update(ctx context.Context, sc core.Scope, id core.EvaluatorID, change func(*core.Evaluator)) (core.Evaluator, error) {
	err := v.ChangeEvaluator(ctx, sc, id, func(e *core.Evaluator) error {
		was := string(e.Config)
		change(e)
		if string(e.Config) != was {
			e.Revision++
		}
		return checkEvaluator(*e)
	})
	if err != nil {
		return core.Evaluator{}, err
	}
	return v.Evaluator(ctx, sc, id)
}

// Look applies an evaluator to the newest traces that are complete. Looking
// again finds nothing twice. A dry look keeps nothing.
func (v *Evaluation) Look(ctx context.Context, sc core.Scope, id core.EvaluatorID, limit int, dry bool) (out core.Evaluated, hits []core.Occurrence, err error) {
	e, err := v.Evaluator(ctx, sc, id)
	if err != nil {
		return out, nil, err
	}
	if e.Rule == core.RuleJudge {
		return out, nil, core.Refuse(core.InvalidRequest, "the evaluator %s asks a model, which costs money: its questions are a benchmark that you quote and run. Nothing was looked at", e.Name)
	}
	if e.Paused && !dry {
		return out, nil, core.Refuse(core.EvaluatorPaused, "the evaluator %s is paused; nothing was looked at", e.Name)
	}
	now := v.Now()
	err = v.Recent.EachRecent(ctx, sc, min(limit, MaxLook), func(t core.Trace, spans []core.Span) error {
		if c := t.Completeness(now); c == core.TraceCollecting {
			return nil
		}
		out.Looked++
		found, err := rule.Look(e.Rule, e.Config, t, spans)
		if err != nil || len(found) == 0 {
			return err
		}
		out.Matched++
		for _, h := range found {
			hits = append(hits, core.Occurrence{Hit: h, Fingerprint: fingerprint(e, h), Trace: t.ID})
		}
		return nil
	})
	if err != nil || dry {
		return out, hits, err
	}
	out.Findings, err = v.Found(ctx, sc, e, hits, v.NewID)
	return out, hits, err
}

// Fingerprint is that of what a judge found: all that failed is one finding.
func Fingerprint(e core.Evaluator, h core.Hit) string { return fingerprint(e, h) }

// fingerprint is the same for what is the same finding of an evaluator.
func fingerprint(e core.Evaluator, h core.Hit) string {
	sum := sha256.Sum256([]byte(string(e.ID) + "\n" + e.Rule + "\n" + h.Signature))
	return hex.EncodeToString(sum[:16])
}

// SetFinding says what a person thinks of a finding.
func (v *Evaluation) SetFinding(ctx context.Context, sc core.Scope, id core.FindingID, status, note *string) (core.Finding, error) {
	err := v.ChangeFinding(ctx, sc, id, func(f *core.Finding) error {
		if status != nil {
			switch *status {
			case core.FindingOpen, core.FindingConfirmed, core.FindingDismissed, core.FindingFixed:
				f.Status = *status
			default:
				return wrong("status", "a finding is open, confirmed, dismissed or fixed; nothing was changed")
			}
		}
		if note != nil {
			if len(*note) > 2_000 {
				return wrong("note", "a note has at most 2,000 characters; nothing was changed")
			}
			f.Note = *note
		}
		return nil
	})
	if err != nil {
		return core.Finding{}, err
	}
	return v.Finding(ctx, sc, id)
}

var errNoConfig = errors.New("settings are no JSON")

// Config is settings as they are kept.
func Config(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), nil
	}
	if !json.Valid(raw) {
		return nil, errNoConfig
	}
	return raw, nil
}
