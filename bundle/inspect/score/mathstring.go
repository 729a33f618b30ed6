package score

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/inspect/internal/mathtext"
	"github.com/evalrouter/evalrouter/bundle/inspect/internal/numeral"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// MathString compares the spelling of mathematical answers. It is ours: it
// finds the answer as Inspect's math scorer does, and then compares text and
// plain numbers, where that scorer does algebra. 1/2 and 0.5 are not equal
// here.
type MathString struct{}

// Score compares the most explicit answer of the completion with each target.
// Where the completion marks none, its whole text, its last line and its last
// number are tried as well.
func (MathString) Score(completion string, target Target) (Score, error) {
	found, err := mathtext.Candidates(completion)
	if err != nil {
		return Score{}, fmt.Errorf("find the answer: %w", err)
	}
	if explicit(completion) && len(found) > 1 {
		found = found[:1]
	}
	s := Score{Value: Incorrect, Explanation: &completion}
	for i, candidate := range found {
		right, err := spells(candidate, target)
		if err != nil {
			return Score{}, err
		}
		if i == 0 || right {
			s.Answer, s.Span = &found[i], place(completion, candidate)
		}
		if right {
			s.Value = Correct
			break
		}
	}
	return s, nil
}

// explicit reports an answer that is boxed or stands in formula delimiters.
func explicit(completion string) bool {
	_, boxed, err := mathtext.Box(mathtext.ReplaceUnicode(completion))
	return err == nil && boxed
}

// place is where the candidate stands last, all of the text if it is spelled
// differently there.
func place(completion, candidate string) *Span {
	if i := strings.LastIndex(completion, candidate); i >= 0 {
		return &Span{i, i + len(candidate)}
	}
	return &Span{0, len(completion)}
}

func spells(candidate string, target Target) (bool, error) {
	for _, t := range target {
		want := t
		if box, ok, err := mathtext.Box(mathtext.ReplaceUnicode(t)); err != nil {
			return false, fmt.Errorf("read target: %w", err)
		} else if ok {
			want = box
		}
		a, err := spelling(candidate)
		if err != nil {
			return false, err
		}
		b, err := spelling(want)
		if err != nil {
			return false, err
		}
		if a == b && a != "" {
			return true, nil
		}
	}
	return false, nil
}

// spelling drops what does not change the meaning of a formula: delimiters,
// white space, \left and \right, digit grouping. Plain numbers get one form.
func spelling(s string) (string, error) {
	s, err := mathtext.StripDelimiters(mathtext.ReplaceUnicode(s))
	if err != nil {
		return "", fmt.Errorf("read formula: %w", err)
	}
	s = strings.NewReplacer(`\left`, "", `\right`, "", `\dfrac`, `\frac`, `\tfrac`, `\frac`, `\!`, "", `\,`, "", `\ `, "", `\%`, "%", `\$`, "").Replace(s)
	s = strings.Join(str.Split(s), "")
	if ungrouped := strings.ReplaceAll(s, ",", ""); numeral.Finite(ungrouped) && grouped(s) {
		return canonical(ungrouped), nil
	}
	return s, nil
}

// grouped reports a number whose commas, if any, stand before every third
// digit.
func grouped(s string) bool {
	whole, _, _ := strings.Cut(s, ".")
	parts := strings.Split(whole, ",")
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return false
		}
	}
	return len(parts) == 1 || len(strings.TrimLeft(parts[0], "+-")) <= 3
}

// canonical drops the zeros that a decimal does not need.
func canonical(s string) string {
	if strings.ContainsAny(s, "eE_") {
		return s
	}
	negative := strings.HasPrefix(s, "-")
	s = strings.TrimLeft(s, "+-")
	whole, part, _ := strings.Cut(s, ".")
	whole, part = strings.TrimLeft(whole, "0"), strings.TrimRight(part, "0")
	if whole == "" {
		whole = "0"
	}
	if part != "" {
		whole += "." + part
	}
	if negative && whole != "0" {
		whole = "-" + whole
	}
	return whole
}
