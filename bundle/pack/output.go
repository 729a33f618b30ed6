package pack

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/evalrouter/evalrouter/bundle/jsonl"
)

// maxOutputBytes bounds a file of outputs.
const maxOutputBytes = 64 << 20

// ReadOutputs streams lines of answers to grade. They have the form of
// fixtures, in which expect may be absent. What is wrong with a line ends the
// sequence with a *Finding of the rules of fixtures; path names the file in
// it.
func ReadOutputs(path string, r io.Reader) iter.Seq2[Fixture, error] {
	return func(yield func(Fixture, error) bool) {
		var p jsonl.Parser
		in := &io.LimitedReader{R: r, N: maxOutputBytes + 1}
		lines := jsonl.NewLines(in)
		for n := 0; ; n++ {
			line, err := lines.Next()
			switch {
			case in.N == 0:
				yield(Fixture{}, fmt.Errorf("read %s: more than %d bytes", path, maxOutputBytes))
				return
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(Fixture{}, fmt.Errorf("read %s: %w", path, err))
				return
			case n == MaxFixtures:
				yield(Fixture{}, fmt.Errorf("read %s: more than %d lines", path, MaxFixtures))
				return
			}
			f, fault := readOutput(&p, line)
			if fault != nil {
				x := Finding{Rule: "fixture_" + fault.Code, Path: path, Line: lines.Number(), Field: fault.Path, Message: fault.Message}
				rule := ruleOf(x.Rule)
				x.Severity, x.Remedy = rule.Severity, rule.Remedy
				yield(Fixture{}, &x)
				return
			}
			f.Line = lines.Number()
			if !yield(f, nil) {
				return
			}
		}
	}
}
