package pack

import (
	"errors"
	"fmt"
	"strings"
)

// Severity says what a finding does to a package.
type Severity string

// Severities. An error makes the package invalid; a warning is shown.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one thing that is wrong with a package. It says where, and never
// repeats what stands there.
type Finding struct {
	// Rule is the id of the rule that was broken; it is stable.
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Path is the file inside the package, "" for the package itself.
	Path string `json:"path"`
	// Line counts from 1, 0 when the finding is about the whole file.
	Line int `json:"line,omitempty"`
	// Field is the place in the document or the line, dotted.
	Field   string `json:"field,omitempty"`
	Task    string `json:"task,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Path)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if f.Field != "" {
		b.WriteString(f.Field + ": ")
	}
	return b.String() + f.Message + " (" + f.Rule + ")"
}

// Error makes a finding usable where one ends the work.
func (f *Finding) Error() string { return f.String() }

// Refusal is the error of a package that is not valid.
type Refusal struct{ Report Report }

func (r *Refusal) Error() string {
	for _, f := range r.Report.Findings {
		if f.Severity == Error {
			return fmt.Sprintf("the package is not valid: %s; %d errors in all", f, r.Report.Errors)
		}
	}
	return "the package is not valid"
}

// Report is what Validate found.
type Report struct {
	Valid bool `json:"valid"`
	// Package is the SHA-256 of evalrouter.json, which pins all components.
	Package    string      `json:"package_sha256,omitempty"`
	Namespace  string      `json:"namespace,omitempty"`
	Name       string      `json:"name,omitempty"`
	Version    string      `json:"version,omitempty"`
	Components []Component `json:"components"`
	Tasks      int         `json:"task_count"`
	Fixtures   int         `json:"fixture_count"`
	// Findings are the first hundred; Errors and Warnings count all.
	Findings []Finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
}

// Err is a *Refusal when the package is not valid.
func (r Report) Err() error {
	if r.Valid {
		return nil
	}
	return &Refusal{Report: r}
}

func (r *Report) add(f Finding) {
	rule := ruleOf(f.Rule)
	f.Severity, f.Remedy = rule.Severity, rule.Remedy
	if f.Severity == Error {
		r.Errors++
	} else {
		r.Warnings++
	}
	if len(r.Findings) < MaxFindings {
		r.Findings = append(r.Findings, f)
	}
}

// errStop ends a walk over a file that has nothing more to say.
var errStop = errors.New("stop")
