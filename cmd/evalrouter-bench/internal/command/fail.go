package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

// Codes of errors. They are stable.
const (
	codeInput   = "invalid_input"
	codePackage = "package_invalid"
	codeExists  = "destination_exists"
	codeDigest  = "digest_mismatch"
	codeRead    = "read_failed"
	codeWrite   = "write_failed"
	codeStopped = "interrupted"
	// codeEvidence: the evidence of a run is not as it was written.
	codeEvidence = "evidence_broken"
)

// failure is an error with its code, what was not done, and what helps.
type failure struct {
	code    string
	message string
	facts   []string
	next    []string
}

func (f *failure) Error() string { return f.message }

// exitCode is the exit code that an error means.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	switch explain(err).code {
	case codeInput, codePackage, codeExists, codeDigest, codeEvidence:
		return exitRejected
	}
	return exitFailed
}

// explain makes every error one that can be shown.
func explain(err error) *failure {
	var f *failure
	var usage *argv.UsageError
	var refused *pack.Refusal
	var finding *pack.Finding
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &usage):
		return &failure{code: codeInput, message: usage.Message, facts: []string{"nothing was done"}, next: []string{usage.Next}}
	case errors.As(err, &refused):
		return refusal(refused)
	case errors.As(err, &finding):
		return &failure{code: codeInput, message: finding.String(), facts: []string{finding.Remedy, "nothing was written"}}
	case errors.Is(err, context.Canceled):
		return &failure{code: codeStopped, message: "stopped", facts: []string{"nothing was written"}}
	}
	return &failure{code: codeRead, message: err.Error(), facts: []string{"nothing was written"}}
}

// refusal shows the first findings; validate shows them all.
func refusal(r *pack.Refusal) *failure {
	f := &failure{code: codePackage, message: fmt.Sprintf("the package is not valid: %d errors", r.Report.Errors)}
	if r.Report.Errors == 1 {
		f.message = "the package is not valid: 1 error"
	}
	shown := 0
	for _, x := range r.Report.Findings {
		if x.Severity == pack.Error && shown < 3 {
			f.facts = append(f.facts, x.String(), "  "+x.Remedy)
			shown++
		}
	}
	f.facts = append(f.facts, "nothing was written")
	return f
}

// fail prints an error: one JSON document on stdout if JSON was asked for,
// otherwise lines for people on stderr.
func (a *App) fail(err error) {
	f := explain(err)
	if a.json {
		b, err := json.Marshal(map[string]any{"error": map[string]any{
			"code": f.code, "message": f.message, "facts": append([]string{}, f.facts...), "next": append([]string{}, f.next...),
			"exit_code": exitCode(f), "retry_safe": true, "charged_microusd": "0",
		}})
		if err != nil {
			a.failed = err
			return
		}
		a.write(string(plain.JSON(b)) + "\n")
		return
	}
	a.note("error: %s (%s)", f.message, f.code)
	for _, x := range f.facts {
		a.note("  %s", x)
	}
	for _, x := range f.next {
		a.note("  next: %s", x)
	}
}

// cause words the reason of a failed file operation without its paths.
func cause(err error) string {
	var no syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is not there"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, fs.ErrExist):
		return "it exists already"
	case errors.As(err, &no):
		return no.Error()
	}
	return err.Error()
}
