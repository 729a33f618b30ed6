// Package show puts records into words: pure functions from a value to text
// that is safe to draw. The words are those of the command line, so that a
// person meets one vocabulary.
package show

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// F is a formatted line, made safe as a whole.
func F(format string, args ...any) plain.Safe { return plain.Line(fmt.Sprintf(format, args...)) }

// Money writes an amount for people: $100,000.00.
func Money(m usd.Micro) string {
	s := m.String()
	start := strings.IndexByte(s, '$') + 1
	for i := strings.IndexByte(s, '.') - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Thousands writes a count with separators: 1,319.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is a number with its noun: "1 call", "2,000 calls".
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Count is an optional number.
func Count(n *int) string {
	if n == nil {
		return "-"
	}
	return Thousands(*n)
}

// Text is an optional text.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Short is the beginning of an id that people see; it resolves.
func Short(id string) string { return id[:min(8, len(id))] }

// outcomeWords are the outcomes in the order and the words in which people read
// them.
func outcomeWords() [][2]string {
	return [][2]string{
		{"right", "right"}, {"wrong", "wrong"}, {"extraction_failed", "no answer found"}, {"truncated", "cut off"},
		{"empty", "empty"}, {"refused", "refused"}, {"provider_error", "provider error"}, {"judge_error", "judge error"},
		{"grader_error", "grader error"}, {"skipped_budget", "not run (cap)"}, {"cancelled", "cancelled"},
		{"pending", "pending"}, {"left_out", "left out"},
	}
}

// Outcome is one outcome in words.
func Outcome(code string) string {
	for _, w := range outcomeWords() {
		if w[0] == code {
			return w[1]
		}
	}
	return code
}

// OutcomeRole is the look of an outcome's word.
func OutcomeRole(word plain.Safe) kit.Role {
	switch word {
	case "right":
		return kit.Good
	case "wrong", "provider error", "judge error", "grader error":
		return kit.Bad
	case "no answer found", "cut off", "refused", "empty":
		return kit.Warn
	}
	return kit.Plain
}

// Outcomes is the list of outcomes with their counts, and their sum.
func Outcomes(counts map[string]int) (string, int) {
	var parts []string
	sum, known := 0, map[string]bool{}
	add := func(code, word string) {
		known[code] = true
		if n := counts[code]; n != 0 {
			parts, sum = append(parts, word+" "+Thousands(n)), sum+n
		}
	}
	for _, w := range outcomeWords() {
		add(w[0], w[1])
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if !known[k] {
			add(k, k)
		}
	}
	if len(parts) == 0 {
		return "none", 0
	}
	return strings.Join(parts, "  "), sum
}

// Rate is a figure for people, with n and a 95 % interval: the given one, or
// Wilson's when the value is a share of whole tasks.
func Rate(value float64, n int, interval *api.Interval, share bool) string {
	k := value * float64(n)
	whole := share && math.Abs(k-math.Round(k)) < 1e-6
	switch {
	case n == 0:
		return "none: nothing was graded"
	case value < 0 || value > 1:
		return fmt.Sprintf("%.4f   n %s", value, Thousands(n))
	}
	s := fmt.Sprintf("%.1f %%   n %s", 100*value, Thousands(n))
	if whole {
		s = fmt.Sprintf("%.1f %%   %s of %s", 100*value, Thousands(int(math.Round(k))), Thousands(n))
	}
	if lo, hi, ok := Bounds(value, n, interval, share); ok {
		return s + fmt.Sprintf("   95 %% interval %.1f to %.1f", 100*lo, 100*hi)
	}
	return s + "   no interval"
}

// Bounds are the ends of a figure's interval, where it has one.
func Bounds(value float64, n int, interval *api.Interval, share bool) (lo, hi float64, ok bool) {
	k := value * float64(n)
	switch {
	case n == 0 || value < 0 || value > 1:
		return 0, 0, false
	case interval != nil:
		return interval.Lower, interval.Upper, true
	case share && math.Abs(k-math.Round(k)) < 1e-6:
		w := stat.Wilson(int(math.Round(k)), n, 0.95)
		return w.Lower, w.Upper, true
	}
	return 0, 0, false
}

// Axis draws an interval on a line from 0 to 100 %: the scale above, the
// interval beneath.
func Axis(width int, value, lo, hi float64) (scale, bar plain.Safe) {
	w := max(width-10, 10)
	at := func(x float64) int { return int(math.Round(max(min(x, 1), 0) * float64(w-1))) }
	row := []rune(strings.Repeat(" ", w))
	for i := at(lo); i <= at(hi); i++ {
		row[i] = '─'
	}
	if at(lo) < at(hi) {
		row[at(lo)], row[at(hi)] = '├', '┤'
	}
	row[at(value)] = '●'
	return plain.Line("0 %├" + strings.Repeat("─", w-2) + "┤100 %"), plain.Line("   " + strings.TrimRight(string(row), " "))
}

// Progress is a bar of done tasks.
func Progress(width, done, of int) plain.Safe {
	full := 0
	if of > 0 {
		full = min(max(width*done/of, 0), width)
	}
	return plain.Line(strings.Repeat("█", full) + strings.Repeat("░", max(width-full, 0)))
}

// Problem is an error as lines: what happened, its code, what was not done, and
// what can be tried.
func Problem(what plain.Safe, err error, retry bool) []kit.Line {
	out := []kit.Line{{Text: what, Role: kit.Strong}, {Text: " " + plain.Line(Reason(err)), Role: kit.Bad}}
	var f *flow.Error
	if errors.As(err, &f) {
		for _, fact := range f.Facts {
			out = append(out, kit.Line{Text: " " + plain.Line(fact)})
		}
	}
	if flow.Outage(err) {
		why := "The service does not answer"
		if c := flow.Cause(err); c != "" {
			why += ": " + c
		}
		out = append(out, kit.Line{Text: " " + plain.Line(why+".")}, kit.Line{Text: " Runs go on without this terminal; their caps hold."})
	}
	if SignedOut(err) {
		out = append(out, kit.Line{Text: " Sign in: Account and workspace, on Home."})
	}
	if retry {
		out = append(out, kit.Line{}, kit.Line{Text: " F5 tries again   Esc goes back"})
	}
	return out
}

// codeOf is an error's code, "" without one.
func codeOf(err error) api.Code {
	var e *evalrouter.Error
	var f *flow.Error
	switch {
	case errors.As(err, &f):
		return f.Code
	case errors.As(err, &e):
		return e.Code
	}
	return ""
}

// SignedOut says that an error is for want of a sign-in that is good.
func SignedOut(err error) bool {
	c := codeOf(err)
	return c == api.SignedOut || c == api.Unauthenticated || Ended(err)
}

// Ended says that an error is for a sign-in or key that was good and has ended.
func Ended(err error) bool {
	c := codeOf(err)
	return c == api.SessionExpired || c == api.KeyRevoked
}

// Reason is an error in one sentence, with its code.
func Reason(err error) string {
	var e *evalrouter.Error
	var f *flow.Error
	switch {
	case errors.As(err, &f):
		return fmt.Sprintf("%s (%s)", f.Message, f.Code)
	case errors.As(err, &e):
		return fmt.Sprintf("%s (%s)", e.Message, e.Code)
	}
	return err.Error()
}

// Whole is a line cut between its parts, which two spaces, a comma or a dot
// divide: a figure that lost its end is another figure.
func Whole(s string, w int) plain.Safe {
	line := plain.Line(s)
	if plain.Width(line) <= w {
		return line
	}
	fits := ""
	for i := range s {
		for _, by := range []string{"  ", ", ", " · "} {
			if strings.HasPrefix(s[i:], by) && plain.Width(plain.Line(s[:i]))+2 <= w {
				fits = s[:i] + " …"
			}
		}
	}
	if fits == "" {
		return plain.Cut(line, w)
	}
	return plain.Line(fits)
}
