// Package gate says whether a finished run is good enough to go on, for a
// continuous integration that is to stop where it is not.
//
// A gate is on the figure that the run is known by: on its point, on the lower end
// of its interval, or on what it lost against an earlier run of the same tasks. A
// run without that figure passes none. What a gate needs is looked at before
// anything is spent.
package gate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// Gates are those of one command line.
type Gates struct {
	score, lower *float64
	// against is the run that this one may not fall behind, by allowed at most.
	against string
	allowed float64
	before  *api.RunRecord
}

// Names of gates.
const (
	MinScore      = "min_score"
	MinLowerBound = "min_lower_bound"
	MaxRegression = "max_regression"
)

// Check is what one gate came to, as JSON.
type Check struct {
	Gate string `json:"gate"`
	// Required is the least that passes: a share, or for max_regression the least
	// difference to the run before. Value is null where there is no figure.
	Required float64  `json:"required"`
	Value    *float64 `json:"value"`
	RunID    string   `json:"run_id,omitempty"` // that of max_regression
	Passed   bool     `json:"passed"`
	Reason   string   `json:"reason"`
}

// Declare declares the flags.
func (g *Gates) Declare(fs *argv.Flags) {
	fs.Checked("min-score", "SHARE", "exit 1 if the score is below this, as 0.8 or 80%", shareInto(&g.score)).Rare()
	fs.Checked("min-lower-bound", "SHARE", "exit 1 if its interval begins below this", shareInto(&g.lower)).Rare()
	fs.Checked("max-regression", "RUN", "exit 1 if it fell below RUN; or RUN=0.02 below", g.regression).Rare()
}

func shareInto(to **float64) func(string) error {
	return func(text string) error {
		v, err := share(text)
		if err == nil {
			*to = &v
		}
		return err
	}
}

// share reads 0.8 or 80%.
func share(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, errors.New("want a share from 0 to 1, or a percentage such as 80%")
	}
	return v, nil
}

func (g *Gates) regression(text string) (err error) {
	run, by, given := strings.Cut(text, "=")
	if given {
		if g.allowed, err = share(by); err != nil {
			return err
		}
	}
	g.against = run
	return flow.CheckRunID(run)
}

// Any says that there is a gate.
func (g *Gates) Any() bool { return g.score != nil || g.lower != nil || g.against != "" }

// Runs reads runs.
type Runs interface {
	Get(ctx context.Context, id string) (api.RunRecord, error)
}

// Prepare reads the run that the gates name. find gives the whole id of what was
// typed. A run that nothing can be held against is refused.
func (g *Gates) Prepare(ctx context.Context, find func(context.Context, []string) (string, error), runs Runs) error {
	if g.against == "" {
		return nil
	}
	id, err := find(ctx, []string{g.against})
	if err != nil {
		return err
	}
	r, err := runs.Get(ctx, id)
	if err != nil {
		return err
	}
	if !r.Status.Terminal() || r.Headline == nil || r.Headline.Denominator == 0 || len(r.Profiles) != 1 {
		return &argv.UsageError{Message: "--max-regression: run " + g.against + " has no final score that another one could fall behind", Next: "evalrouter status " + g.against}
	}
	g.before = &r
	return nil
}

// Judge holds a finished run against every gate, in the order of the help.
func (g *Gates) Judge(r api.RunRecord) (out []Check) {
	if g.score != nil {
		out = append(out, atLeast(MinScore, "the score", *g.score, point(r)))
	}
	if g.lower != nil {
		out = append(out, atLeast(MinLowerBound, "the lower end of the interval", *g.lower, lower(r)))
	}
	if g.before != nil {
		out = append(out, g.regressed(r))
	}
	return out
}

func point(r api.RunRecord) *float64 {
	if r.Headline == nil || r.Headline.Denominator == 0 {
		return nil
	}
	return &r.Headline.Value
}

func lower(r api.RunRecord) *float64 {
	if point(r) == nil || r.Headline.Interval == nil {
		return nil
	}
	return &r.Headline.Interval.Lower
}

func atLeast(name, what string, required float64, got *float64) Check {
	c := Check{Gate: name, Required: required, Value: got}
	switch {
	case got == nil:
		c.Reason = what + " is not known: too little was graded"
	case *got < required:
		c.Reason = fmt.Sprintf("%s, %s, is below %s", what, percent(*got, required), percent(required, *got))
	default:
		c.Passed, c.Reason = true, fmt.Sprintf("%s, %s, is at least %s", what, percent(*got, required), percent(required, *got))
	}
	return c
}

// regressed compares with the run before, where both asked the same tasks.
func (g *Gates) regressed(r api.RunRecord) Check {
	c := Check{Gate: MaxRegression, Required: 0 - g.allowed, RunID: g.before.ID}
	now := point(r)
	switch {
	case len(r.Profiles) != 1 || r.Profiles[0].ManifestSHA256 != g.before.Profiles[0].ManifestSHA256 || r.Profiles[0].TaskIDsHash != g.before.Profiles[0].TaskIDsHash:
		c.Reason = "the run that it is held against asked other tasks, so that the two scores do not compare"
		return c
	case now == nil:
		c.Reason = "the score is not known: nothing was graded"
		return c
	}
	before := g.before.Headline.Value
	difference := *now - before
	c.Value = &difference
	text := fmt.Sprintf("%s after %s in run %s", percent(*now, before), percent(before, *now), g.before.ID)
	// The shares, not their difference: it is not exact.
	if c.Passed = *now >= before-g.allowed-exact; c.Passed {
		c.Reason = "the score did not fall further than allowed: " + text
	} else {
		c.Reason = "the score fell: " + text
	}
	return c
}

// exact is less than any difference of two shares of whole tasks, and more than
// what adding up binary fractions can be wrong by.
const exact = 1e-12

// percent is a share in so many places that it reads otherwise than another one
// that it is not equal to, from one place on.
func percent(v, other float64) string {
	for places := 1; places < 6; places++ {
		text := strconv.FormatFloat(100*v, 'f', places, 64)
		if v == other || text != strconv.FormatFloat(100*other, 'f', places, 64) {
			return text + " %"
		}
	}
	return strconv.FormatFloat(100*v, 'f', 6, 64) + " %"
}

// Failed is the error of checks that did not pass, nil where all did.
func Failed(checks []Check, run string) error {
	var why []string
	for _, c := range checks {
		if !c.Passed {
			why = append(why, "--"+strings.ReplaceAll(c.Gate, "_", "-")+": "+c.Reason)
		}
	}
	if len(why) == 0 {
		return nil
	}
	return &flow.Error{Code: api.GateFailed, Message: strings.Join(why, "; "), Facts: []string{"the run and its results are kept"}, RunID: run}
}
