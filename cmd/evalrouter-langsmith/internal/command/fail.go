package command

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/evalrouter/evalrouter/langsmith/checkpoint"
	"github.com/evalrouter/evalrouter/langsmith/source"
	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Exit codes, as everywhere in the product.
const (
	exitOK       = 0
	exitFailed   = 1
	exitRejected = 2
	exitPartial  = 4
)

// ended is a command whose result was printed, with its exit code.
type ended struct{ code int }

func (e *ended) Error() string { return "not everything was imported" }

// refusal is something that was decided here before anything was read or sent.
type refusal struct {
	code    api.Code
	message string
	facts   []string
	next    []string
	err     error
}

func (e *refusal) Error() string { return e.message }

func (e *refusal) Unwrap() error { return e.err }

// report is an error as it is printed.
type report struct {
	Code      api.Code `json:"code"`
	Message   string   `json:"message"`
	ExitCode  int      `json:"exit_code"`
	RetrySafe bool     `json:"retry_safe"`
	Charged   string   `json:"charged_microusd"`
	Next      []string `json:"next"`
	Status    int      `json:"status,omitempty"`
	RequestID string   `json:"request_id,omitempty"`

	facts []string
}

// explain turns any error into its report. Importing costs nothing and may
// always be repeated.
func explain(err error) report {
	r := report{Code: api.InternalError, Message: err.Error(), ExitCode: exitFailed, RetrySafe: true, Charged: "0", Next: []string{}}
	var own *refusal
	var from *source.Error
	var to *evalrouter.Error
	switch {
	case errors.As(err, &own):
		r.Code, r.facts, r.ExitCode = own.code, own.facts, exitRejected
		r.Next = append(r.Next, own.next...)
	case errors.As(err, &from):
		r.Code, r.Status = from.Code, from.Status
		if from.Code == api.InvalidConfiguration {
			r.ExitCode = exitRejected
		}
		r.Next = append(r.Next, sourceAdvice(from.Code)...)
		r.facts = []string{"nothing was marked as imported that EvalRouter has not acknowledged"}
	case errors.As(err, &to):
		r.Code, r.Message, r.Status, r.RequestID = to.Code, "EvalRouter: "+to.Message, to.Status, to.RequestID
		if slices.Contains([]int{400, 402, 409, 410, 422, 426}, to.Status) || to.Code == api.InvalidConfiguration {
			r.ExitCode = exitRejected
		}
		r.facts = []string{"nothing was marked as imported that EvalRouter has not acknowledged"}
		if to.Status == 401 || to.Status == 403 || to.Status == 404 {
			r.facts = append(r.facts, "check EVALROUTER_TRACE_KEY, EVALROUTER_TRACE_CONNECTION_ID and EVALROUTER_WORKSPACE_ID")
		}
	case errors.Is(err, checkpoint.ErrHeld):
		r.Code, r.ExitCode = api.StateHeld, exitRejected
		r.facts = []string{"nothing was read or sent; one process at a time may use a state file"}
	case errors.Is(err, checkpoint.ErrCorrupt):
		r.Code, r.ExitCode = api.StateCorrupt, exitRejected
		r.facts = []string{
			"nothing was read or sent: a state that is guessed would lose runs",
			"move the file away and name --since to begin anew; what is stored is not stored twice",
		}
	}
	return r
}

func sourceAdvice(c api.Code) []string {
	switch c {
	case source.ProjectUnknown:
		return []string{"evalrouter-langsmith projects"}
	case source.KeyRefused, source.WorkspaceNeeded, source.NetworkError, source.RequestNotAllowed:
		return []string{"evalrouter-langsmith doctor --help"}
	}
	return nil
}

// fail prints an error and answers its exit code.
func (a *App) fail(err error) int {
	var done *ended
	if errors.As(err, &done) {
		return done.code
	}
	r := explain(err)
	if a.opts.json {
		b, err := json.Marshal(map[string]report{"error": r})
		if err == nil {
			_, err = a.Out.Write(append(plain.JSON(b), '\n'))
		}
		if err != nil {
			return exitFailed
		}
		return r.ExitCode
	}
	a.note("error: %s (%s)", r.Message, r.Code)
	for _, f := range r.facts {
		a.note("  %s", f)
	}
	if r.RequestID != "" {
		a.note("  request: %s", r.RequestID)
	}
	for _, n := range r.Next {
		a.note("  next: %s", n)
	}
	return r.ExitCode
}
