package choice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

var (
	ownLine  = re.MustCompile(`(?i)^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)`, re.Multiline)
	anywhere = re.MustCompile(`(?i)ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)`, 0)
)

// Reply is what a completion selects. Span is where the letters stand in it,
// nil when no ANSWER was found. Letters is sorted and empty when what stands
// there names no options.
type Reply struct {
	Letters []string
	Span    *score.Span
}

// Parse reads the letters behind the last ANSWER on a line of its own, else
// behind the first ANSWER anywhere. Without multiple, exactly one letter must
// stand there.
func (o Options) Parse(completion string, multiple bool) (Reply, error) {
	m, err := find(completion)
	if err != nil || m == nil {
		return Reply{}, err
	}
	from, to := m.Span(1)
	text := str.Upper(strings.TrimRight(str.Strip(completion[from:to]), "."))
	reply := Reply{Span: &score.Span{From: from, To: to}}
	allowed := make(map[string]bool, len(o.Texts))
	for i := range o.Texts {
		allowed[Letter(i)] = true
	}
	if !multiple {
		if tokens := split(text); len(tokens) == 1 && allowed[tokens[0]] {
			reply.Letters = tokens
		}
		return reply, nil
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, " AND ", ","), " ", "")
	for _, tokens := range [][]string{split(text), strings.Split(text, "")} {
		if !slices.ContainsFunc(tokens, func(l string) bool { return !allowed[l] }) {
			slices.Sort(tokens)
			reply.Letters = slices.Compact(tokens)
			break
		}
	}
	return reply, nil
}

func find(completion string) (*re.Match, error) {
	var last *re.Match
	for m, err := range ownLine.Iter(completion) {
		if err != nil {
			return nil, fmt.Errorf("search ANSWER line: %w", err)
		}
		last = m
	}
	if last != nil {
		return last, nil
	}
	m, err := anywhere.Search(completion)
	if err != nil {
		return nil, fmt.Errorf("search ANSWER: %w", err)
	}
	return m, nil
}

// split is the comma-separated parts that are not blank.
func split(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = str.Strip(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// Score compares what a completion selects with the letters of the target,
// which name options in their original order. A letter that stands twice in a
// target can never be met, and an empty target is met by selecting nothing.
func (o Options) Score(completion string, target score.Target, multiple bool) (score.Score, error) {
	reply, err := o.Parse(completion, multiple)
	if err != nil {
		return score.Score{}, err
	}
	selected := make([]bool, len(o.Texts)) // by original position
	for i := range o.Texts {
		selected[o.Original[i]] = slices.Contains(reply.Letters, Letter(i))
	}
	var got []int
	var labels []string
	for i, on := range selected {
		if on {
			got, labels = append(got, i), append(labels, Letter(i))
		}
	}
	want, err := positions(target)
	if err != nil {
		return score.Score{}, fmt.Errorf("read target: %w", err)
	}
	answer := strings.Join(labels, ", ")
	explanation := completion
	if o.shuffled() {
		explanation = o.explain(reply.Letters)
	}
	s := score.Score{Value: score.Incorrect, Answer: &answer, Explanation: &explanation, Span: reply.Span}
	if slices.Equal(got, want) {
		s.Value = score.Correct
	}
	return s, nil
}

func positions(target score.Target) ([]int, error) {
	var out []int
	for _, r := range str.Runes(target.Text()) {
		if r == ',' || r == ' ' {
			continue
		}
		i, err := Index(str.FromRunes([]rune{r}))
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return out, nil
}

// explain records what the model saw and chose, in the words of the reference,
// whose viewer shows them.
func (o Options) explain(letters []string) string {
	shown := make([]string, 0, len(letters))
	for i := range o.Texts {
		if l := Letter(i); slices.Contains(letters, l) {
			shown = append(shown, l)
		}
	}
	return "Choices were shuffled before generating a response, the following was sent to the model:\n\n" + o.List() +
		"\nShuffled answer:\nANSWER: " + strings.Join(shown, ", ")
}
