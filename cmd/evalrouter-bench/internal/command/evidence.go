package command

import (
	"errors"
	"os"

	"github.com/evalrouter/evalrouter/bundle/families"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/rederive"
)

// evidenceResult is what verify found in the evidence of a run.
type evidenceResult struct {
	Path     string          `json:"path"`
	Bytes    int64           `json:"bytes"`
	SHA256   string          `json:"sha256"`
	Verified bool            `json:"verified"`
	Evidence rederive.Result `json:"evidence"`
}

// verifyEvidence checks a file that is the evidence of a run; ok is false for
// one that is not.
func (a *App) verifyEvidence(path, want string) (ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, nil // told better where a benchmark is opened
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !rederive.Is(f, info.Size()) {
		return false, nil
	}
	res := evidenceResult{Path: path}
	if res.SHA256, res.Bytes, err = digestOf(path); err != nil {
		return true, err
	}
	if want != "" && want != res.SHA256 {
		return true, wrongDigest(path, res.SHA256)
	}
	res.Evidence, err = rederive.Verify(f, info.Size(), families.Grader)
	if errors.Is(err, rederive.ErrBroken) {
		return true, &failure{code: codeEvidence, message: path + ": " + err.Error(), facts: []string{"nothing in it can be relied on"}}
	}
	if err != nil {
		return true, err
	}
	res.Verified = res.Evidence.Holds()
	if err := a.value(res, func() { a.showEvidence(res) }); err != nil {
		return true, err
	}
	if !res.Verified {
		return true, &ended{exitRejected}
	}
	return true, nil
}

func (a *App) showEvidence(res evidenceResult) {
	e := res.Evidence
	for _, p := range e.Problems {
		a.line("error   %s", p)
	}
	if n := e.Found - len(e.Problems); n > 0 {
		a.line("... and %d more", n)
	}
	if e.Missing > 0 {
		a.line("error   %d scores cannot be derived again: the answers are not in the bundle", e.Missing)
	}
	if res.Verified {
		a.line("%s holds: run %s, %s, %s", res.Path, e.RunID, e.Benchmark, e.Model)
	} else {
		a.line("%s does not hold: run %s, %s, %s", res.Path, e.RunID, e.Benchmark, e.Model)
	}
	a.line("  %d tasks, %d answers graded again, %d charges computed again", e.Tasks, e.Graded, e.Charges)
	for _, f := range e.Figures {
		a.line("  %s", f)
	}
	a.line("  sha256 %s", res.SHA256)
}
