package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
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
		r.fromCall(err, call, refused == nil)
	}
	r.Next = append(hints(err), r.Next...)
	r.Next = slices.Compact(r.Next)
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

func (r *Report) fromCall(err error, e *evalrouter.Error, outermost bool) {
	r.Status, r.RequestID, r.Details = e.Status, e.RequestID, e.Details
	r.RetrySafe = !e.Uncertain || e.IdempotencyKey != ""
	if !outermost {
		if e.Message != "" && r.Code != e.Code && e.Code != api.DestinationExists {
			r.facts = append([]string{"cause: " + e.Message}, r.facts...)
		}
		return
	}
	r.Code, r.Message, r.IdempotencyKey = e.Code, e.Message, string(e.IdempotencyKey)
	if why := flow.Cause(err); why != "" && e.Code == api.NetworkError {
		r.facts = append(r.facts, "cause: "+why)
	}
	if id := e.Detail("run_id"); id != "" {
		r.RunID = id
		r.next("evalrouter wait " + id)
	}
	if id := e.Detail("group_id"); id != "" {
		r.next("evalrouter group status " + id)
	}
	r.facts = append(r.facts, members(e.Details)...)
	switch e.Code {
	case api.InsufficientCredit:
		r.amount("this cap needs %s", e.Detail("required_microusd"))
		r.amount("available are %s", e.Detail("available_microusd"))
		r.facts = append(r.facts, "nothing was started or charged; repeating the same command submits the same quote, once")
		if url := e.Detail("billing_url"); url != "" {
			r.facts = append(r.facts, "add credit at "+url)
		}
		r.next("evalrouter credits")
	case api.TooManyRuns:
		r.facts = append(r.facts, "repeating the same command later submits the same quote, once")
		r.next("evalrouter status")
	case api.CapBelowMinimum:
		r.amount("the smallest cap that pays for one task is %s", e.Detail("minimum_cap_microusd"))
		r.facts = append(r.facts, "nothing was started or charged")
	}
}

// hints are the commands that were added to an error on its way, the outermost
// first.
func hints(err error) []string {
	out := []string{}
	var hint *advised
	for errors.As(err, &hint) {
		for _, n := range hint.next {
			if n != "" {
				out = append(out, n)
			}
		}
		err = hint.error
	}
	return out
}

// wayOut is where to look after an error that brought no advice of its own.
func wayOut(c api.Code) []string {
	switch c {
	case api.SessionExpired, api.SignInExpired, api.SignInRefused, api.SignedOut:
		return []string{"evalrouter login"}
	case api.WorkspaceRequired, api.WorkspaceMismatch:
		return []string{"evalrouter workspace list"}
	case api.Unauthenticated, api.KeyRevoked, api.InsufficientScope,
		api.NetworkError, api.RequestTimeout, api.RedirectRejected, api.InvalidConfiguration, api.InvalidResponse, api.HTTPError:
		return []string{"evalrouter options"}
	case api.ConnectionUnverified, api.ConnectionUnknown:
		return []string{"evalrouter connections list"}
	case api.FeatureUnavailable, api.ModelUnavailable:
		return []string{"evalrouter catalog"}
	}
	return nil
}

// logsCommand shows the log that an error of the local service speaks of.
func (a *App) logsCommand(e *local.Error) string {
	if e == nil || e.Log == "" || filepath.Dir(e.Log) == profile.DirsOf(a.Term.Env, a.Term.Home).Data.Value {
		return "evalrouter local logs"
	}
	return "evalrouter local logs --data " + ShellWord(filepath.Dir(e.Log))
}

// fields are the places of a request that the service refused: "path: code".
func fields(details map[string]any) (out []string) {
	list, _ := details["fields"].([]any) // absent, or a shape that is not known here
	for _, f := range list {
		m, _ := f.(map[string]any)
		path, _ := m["path"].(string)
		code, _ := m["code"].(string)
		if path != "" && code != "" {
			out = append(out, path+": "+strings.ReplaceAll(code, "_", " "))
		}
	}
	return out
}

// members are the models of a group that the service says something about: which,
// why, and by which run.
func members(details map[string]any) (out []string) {
	list, _ := details["members"].([]any) // absent, or a shape that is not known here
	for _, f := range list {
		m, _ := f.(map[string]any)
		place, err := strconv.Atoi(fmt.Sprint(m["member"]))
		run, _ := m["run_id"].(string)
		why, _ := m["reason"].(string)
		if err == nil && why != "" {
			out = append(out, fmt.Sprintf("model %d, run %s: %s", place+1, run, strings.ReplaceAll(why, "_", " ")))
		}
	}
	return out
}

// amount adds a fact about an amount of micro-dollars as the wire gives it.
func (r *Report) amount(format, wire string) {
	if m, err := usd.ParseWire(wire); err == nil && !strings.Contains(r.Message, m.String()) && !strings.Contains(r.Message, Money(m)) {
		r.facts = append(r.facts, fmt.Sprintf(format, Money(m)))
	}
}

// Fail prints an error: one JSON document on stdout if JSON was asked for,
// otherwise lines for people on stderr.
func (a *App) Fail(err error) error {
	r := Explain(err)
	var service *local.Error
	if logged := errors.As(err, &service) && service.Log != ""; logged || a.Local() && r.Code == api.InternalError {
		r.next(a.logsCommand(service))
	}
	if len(r.Next) == 0 {
		r.next(wayOut(r.Code)...)
	}
	// With --jq alone the filter is for results; an error is for the reader.
	if a.Global.JSON {
		b, err := json.Marshal(map[string]Report{"error": r})
		if err != nil {
			return err
		}
		_, err = a.Term.Out.Write(append(plain.JSON(b), '\n'))
		return err
	}
	p := a.Term.ErrPage()
	places := fields(r.Details)
	if len(places) > 0 {
		r.Message = strings.Replace(r.Message, "; details.fields says where", "", 1)
	}
	p.Line("error: %s (%s)", r.Message, r.Code)
	for _, f := range r.facts {
		p.Line("  %s", f)
	}
	for _, f := range places {
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
	p.NextOfError(r.Next...)
	return p.Failure()
}

// Closest is the best suggestion, "" if there is none.
func (r Report) Closest() string {
	if len(r.closest) == 0 {
		return ""
	}
	return r.closest[0]
}
