package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/profile"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Ended is a command that has printed its result, with an exit code that is
// not 0: a run that was watched to an end that is no success.
type Ended struct{ Code int }

// Error says the code only; nobody prints it.
func (e *Ended) Error() string { return "the run did not complete" }

// advised is an error with the commands that help.
type advised struct {
	error
	next []string
}

func (e *advised) Unwrap() error { return e.error }

// WithNext adds commands to an error, the most useful first.
func WithNext(err error, next ...string) error {
	if err == nil {
		return nil
	}
	return &advised{err, next}
}

// Report is an error as it is printed.
type Report struct {
	Code           api.Code       `json:"code"`
	Message        string         `json:"message"`
	ExitCode       int            `json:"exit_code"`
	RetrySafe      bool           `json:"retry_safe"`
	Charged        *string        `json:"charged_microusd"`
	Next           []string       `json:"next"`
	Status         int            `json:"status,omitempty"`
	RequestID      string         `json:"request_id,omitempty"`
	Details        map[string]any `json:"details,omitempty"`
	IdempotencyKey string         `json:"idempotency_key,omitempty"`
	RunID          string         `json:"run_id,omitempty"`

	facts   []string
	closest []string
}

// Explain turns any error into its report.
func Explain(err error) Report {
	r := Report{Code: api.InternalError, Message: err.Error(), RetrySafe: true, Next: []string{}}
	var usage *argv.UsageError
	var refused *flow.Error
	var call *evalrouter.Error
	var service *local.Error
	var config *profile.Error
	var list *table.Error
	switch {
	case errors.As(err, &usage):
		r.Code, r.closest = api.InvalidInput, usage.Closest
		if usage.Code != "" {
			r.Code = usage.Code
		}
		r.next(usage.Next)
	case errors.As(err, &list):
		r.Code, r.facts = api.InvalidInput, []string{"columns: " + strings.Join(list.Valid, ", ")}
	case errors.As(err, &refused):
		r.Code, r.facts, r.closest = refused.Code, refused.Facts, refused.Closest
		r.IdempotencyKey, r.RunID = refused.IdempotencyKey, refused.RunID
	case errors.As(err, &config):
		r.Code, r.facts = config.Code, config.Facts
	case errors.As(err, &service):
		r.Code = service.Code
		if service.Log != "" {
			r.facts = []string{"log: " + service.Log}
			r.Details = map[string]any{"log": service.Log}
		}
	case errors.Is(err, term.ErrDeclined):
		r.Code, r.Message, r.facts = api.ConfirmationDeclined, "not started", []string{"nothing was started or charged"}
	}
	if errors.As(err, &call) {
		r.fromCall(call, refused == nil)
	}
	var hint *advised
	if errors.As(err, &hint) {
		r.next(hint.next...)
	}
	if len(r.closest) > 0 && r.Details == nil {
		r.Details = map[string]any{"closest": r.closest}
	}
	r.ExitCode = ExitCode(err)
	if r.ExitCode == exitRejected || r.ExitCode == exitDeclined {
		zero := "0"
		r.Charged = &zero
	}
	return r
}

func (r *Report) next(cmds ...string) {
	for _, c := range cmds {
		if c != "" {
			r.Next = append(r.Next, c)
		}
	}
}

func (r *Report) fromCall(e *evalrouter.Error, outermost bool) {
	r.Status, r.RequestID, r.Details = e.Status, e.RequestID, e.Details
	r.RetrySafe = !e.Uncertain || e.IdempotencyKey != ""
	if !outermost {
		if e.Message != "" && r.Code != e.Code {
			r.facts = append([]string{"cause: " + e.Message}, r.facts...)
		}
		return
	}
	r.Code, r.Message, r.IdempotencyKey = e.Code, e.Message, string(e.IdempotencyKey)
	if id := e.Detail("run_id"); id != "" {
		r.RunID = id
		r.next("evalrouter wait " + id)
	}
	switch e.Code {
	case api.InsufficientCredit:
		r.amount("this cap needs %s", e.Detail("required_microusd"))
		r.amount("available are %s", e.Detail("available_microusd"))
		r.facts = append(r.facts, "nothing was started or charged; repeating the same command submits the same quote, once")
		if url := e.Detail("billing_url"); url != "" {
			r.facts = append(r.facts, "add credit at "+url)
		}
		r.next("evalrouter credits")
	case api.CapBelowMinimum:
		r.amount("the smallest cap that pays for one task is %s", e.Detail("minimum_cap_microusd"))
		r.facts = append(r.facts, "nothing was started or charged")
	case api.Unauthenticated, api.SessionExpired, api.KeyRevoked:
		r.next("evalrouter options")
	case api.ConnectionUnverified:
		r.next("evalrouter connections list")
	}
}

// amount adds a fact about an amount of micro-dollars as the wire gives it.
func (r *Report) amount(format, wire string) {
	if m, err := usd.ParseWire(wire); err == nil && !strings.Contains(r.Message, m.String()) {
		r.facts = append(r.facts, fmt.Sprintf(format, m))
	}
}

// Fail prints an error: one JSON document on stdout if JSON was asked for,
// otherwise lines for people on stderr.
func (a *App) Fail(err error) error {
	r := Explain(err)
	if p := a.profile; p != nil && p.Local && (r.Code == api.InternalError || r.Code == api.LocalServiceFailed) {
		r.next("evalrouter local logs")
	}
	if a.WantsJSON() {
		b, err := json.Marshal(map[string]Report{"error": r})
		if err != nil {
			return err
		}
		_, err = a.Term.Out.Write(append(plain.JSON(b), '\n'))
		return err
	}
	p := &term.Page{W: a.Term.Err}
	p.Line("error: %s (%s)", r.Message, r.Code)
	for _, f := range r.facts {
		p.Line("  %s", f)
	}
	if len(r.closest) > 0 {
		p.Line("  closest: %s", strings.Join(r.closest, ", "))
	}
	if r.RequestID != "" {
		p.Line("  request: %s", r.RequestID)
	}
	if r.IdempotencyKey != "" {
		p.Line("  idempotency key: %s", r.IdempotencyKey)
	}
	for i, n := range r.Next {
		p.Line("  %s: %s", map[bool]string{true: "next", false: "  or"}[i == 0], n)
	}
	return p.Failure()
}

// Closest is the best suggestion, "" if there is none.
func (r Report) Closest() string {
	if len(r.closest) == 0 {
		return ""
	}
	return r.closest[0]
}
