package gotest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Resource is something outside the code that tests may need. A test that skips for want of it names one of Words in
// its reason.
type Resource struct {
	Name    string
	Words   []string
	Present bool
}

// Verdict prints the closing summary and says whether the run proves anything: an error for failures, for a run
// without a single test, and for skips that blame a resource which is there.
func (s Summary) Verdict(out io.Writer, resources []Resource) error {
	var errs []error
	for _, skip := range s.Skips {
		fmt.Fprintf(out, "skipped: %s.%s: %s\n", skip.Package, skip.Test, skip.Reason)
		for _, r := range resources {
			if r.Present && skip.blames(r) {
				errs = append(errs, fmt.Errorf("%s.%s skipped although %s is there", skip.Package, skip.Test, r.Name))
			}
		}
	}
	for _, name := range slices.Sorted(slices.Values(s.Failures)) {
		fmt.Fprintf(out, "failed: %s\n", name)
	}
	if s.Failed > 0 {
		errs = append(errs, fmt.Errorf("%d failed", s.Failed))
	}
	if s.Passed+s.Failed == 0 {
		errs = append(errs, errors.New("no test ran"))
	}
	return errors.Join(errs...)
}

func (s Skip) blames(r Resource) bool {
	return slices.ContainsFunc(r.Words, func(w string) bool { return strings.Contains(s.Reason, w) })
}

// Counts is the line that programs read: "N passed, N failed, N skipped".
func (s Summary) Counts() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", s.Passed, s.Failed, s.Skipped)
}
