// Package gotest turns the event stream of `go test -json` into what a person needs: one line a package while it
// runs, the output of failing tests only, and a closing list of failures and of skipped tests with their reasons.
//
// Skips are part of the result because a skipped test proves nothing: a suite that is green only because a resource
// was not found must say so, and must fail where the resource is known to be there.
package gotest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Skip is a test that did not run, with the reason that it printed.
type Skip struct {
	Package, Test, Reason string
}

// Summary counts tests with their subtests.
type Summary struct {
	Passed, Failed, Skipped int
	Failures                []string // "package.Test", or "package" for one that did not build or end
	Skips                   []Skip
}

// Collector reads one stream. Out receives the progress.
type Collector struct {
	Out io.Writer

	summary Summary
	pending map[key][]string // output of tests that have not ended
	failed  map[string]bool  // packages with a failed test
}

type key struct{ pkg, test string }

// event is one line of the stream; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64 // seconds
}

// Read consumes the stream to its end. Lines that are no event (a broken go.mod, for example) are passed on.
func (c *Collector) Read(r io.Reader) (Summary, error) {
	c.pending, c.failed = map[key][]string{}, map[string]bool{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				fmt.Fprint(c.Out, line)
			} else {
				c.take(e)
			}
		}
		if err == io.EOF {
			return c.summary, nil
		}
		if err != nil {
			return c.summary, fmt.Errorf("read test events: %w", err)
		}
	}
}

func (c *Collector) take(e event) {
	k := key{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(c.Out, e.Output)
	case e.Action == "output":
		c.pending[k] = append(c.pending[k], e.Output)
	case e.Test == "":
		c.endPackage(e)
	case e.Action == "pass":
		c.summary.Passed++
		delete(c.pending, k)
	case e.Action == "skip":
		c.summary.Skipped++
		c.summary.Skips = append(c.summary.Skips, Skip{e.Package, e.Test, reason(c.pending[k])})
		delete(c.pending, k)
	case e.Action == "fail":
		c.fail(k)
	}
}

func (c *Collector) fail(k key) {
	c.summary.Failed++
	c.summary.Failures = append(c.summary.Failures, k.pkg+"."+k.test)
	c.failed[k.pkg] = true
	c.flush(k)
}

// flush prints what a test has said.
func (c *Collector) flush(k key) {
	for _, line := range c.pending[k] {
		fmt.Fprint(c.Out, line)
	}
	delete(c.pending, k)
}

// endPackage handles the package's own last event. Tests that are still pending then were cut off by a panic or the
// time limit: what they said is the best clue there is.
func (c *Collector) endPackage(e event) {
	took := time.Duration(e.Elapsed * float64(time.Second)).Round(10 * time.Millisecond)
	switch e.Action {
	case "pass":
		fmt.Fprintf(c.Out, "ok    %s  %s\n", e.Package, took)
	case "fail":
		if !c.failed[e.Package] {
			c.summary.Failed++
			c.summary.Failures = append(c.summary.Failures, e.Package)
		}
		for _, k := range c.unfinished(e.Package) {
			c.flush(k)
		}
		fmt.Fprintf(c.Out, "FAIL  %s  %s\n", e.Package, took)
	default: // "skip" is a package without tests; "start" needs no line
		return
	}
	for _, k := range c.unfinished(e.Package) {
		delete(c.pending, k)
	}
}

func (c *Collector) unfinished(pkg string) []key {
	var keys []key
	for k := range c.pending {
		if k.pkg == pkg {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int { return strings.Compare(a.test, b.test) })
	return keys
}

// reason extracts what t.Skip said: the text after "file_test.go:12: " and the lines that continue it.
func reason(output []string) string {
	located := regexp.MustCompile(`^\s*\S+\.go:\d+: (.*)$`)
	var parts []string
	for _, line := range output {
		text := strings.TrimSpace(line)
		if m := located.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			text = strings.TrimSpace(m[1])
		} else if text == "" || strings.HasPrefix(text, "=== ") || strings.HasPrefix(text, "--- ") {
			continue
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "no reason given"
	}
	return strings.Join(parts, " ")
}
