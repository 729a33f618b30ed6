package score

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/inspect/internal/numeral"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// F1 measures the overlap of words with the closest target.
type F1 struct {
	// StopWords do not count on either side.
	StopWords []string
}

// Score is the greatest F1 of all targets that are not blank, rounded to two
// decimals. Words count once, however often they stand.
func (s F1) Score(completion string, target Target) (Score, error) {
	best := 0.0
	for _, t := range target {
		if str.Strip(t) != "" {
			best = max(best, s.Raw(completion, t))
		}
	}
	best, err := number.Round(best, 2)
	return Score{Value: best, Answer: &completion}, err
}

// Raw is the F1 of two texts, not rounded. A side without words counts as
// having its full precision or recall.
func (s F1) Raw(answer, target string) float64 {
	got, want := wordSet(s.Normalize(answer)), wordSet(s.Normalize(target))
	both := 0
	for w := range got {
		if want[w] {
			both++
		}
	}
	precision, recall := 1.0, 1.0
	if len(got) > 0 {
		precision = float64(both) / float64(len(got))
	}
	if len(want) > 0 {
		recall = float64(both) / float64(len(want))
	}
	if precision == 0 && recall == 0 {
		return 0
	}
	return 2 * precision * recall / (precision + recall)
}

func wordSet(text string) map[string]bool {
	words := str.Split(text)
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// Normalize folds case, takes out punctuation, articles and stop words, and
// writes numbers in one way.
func (s F1) Normalize(text string) string {
	stop := make([]string, len(s.StopWords))
	for i, w := range s.StopWords {
		stop[i] = normalToken(w)
	}
	out := make([]byte, 0, len(text))
	for text != "" {
		end := 0
		for end < len(text) && text[end] != ' ' && text[end] != '-' {
			end++
		}
		before := len(out)
		out = appendToken(out, text[:end])
		if len(out) > before && slices.Contains(stop, strings.TrimPrefix(string(out[before:]), " ")) {
			out = out[:before]
		}
		text = text[min(end+1, len(text)):]
	}
	return string(out)
}

// appendToken appends a normalised token, with a space between it and what is
// there already; nothing if nothing is left of it.
func appendToken(out []byte, token string) []byte {
	before := len(out)
	if before > 0 {
		out = append(out, ' ')
	}
	start := len(out)
	for i := 0; i < len(token); i++ {
		c := lowerByte(token[i])
		if 'a' <= c && c <= 'z' {
			out = append(out, c)
		} else if c <= ' ' || c >= 0x7f || '0' <= c && c <= '9' {
			out = append(out[:start], normalToken(token)...) // not just letters and punctuation
			break
		}
	}
	switch string(out[start:]) {
	case "", "a", "an", "the":
		return out[:before]
	}
	return out
}

func normalToken(token string) string {
	token = str.Casefold(token)
	if f, ok := numeral.Float(token); ok {
		return number.Repr(f)
	}
	if f, ok := numeral.Float(strings.Trim(token, asciiPunctuation)); ok {
		return number.Repr(f)
	}
	token = strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune(asciiPunctuation, r) {
			return -1
		}
		return r
	}, token)
	if f, ok := numeral.Float(token); ok {
		return number.Repr(f)
	}
	return squeeze(withoutArticles(token))
}

const asciiPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// withoutArticles puts a space where a, an and the stand as words of their
// own. Only white space bounds words here in practice, but any character that
// \w leaves out does.
func withoutArticles(s string) string {
	var b []byte
	for s != "" {
		n := wordLength(s)
		if n == 0 {
			_, n = str.DecodeRune(s)
			b = append(b, s[:n]...)
		} else if w := s[:n]; w == "a" || w == "an" || w == "the" {
			b = append(b, ' ')
		} else {
			b = append(b, w...)
		}
		s = s[n:]
	}
	return string(b)
}

func wordLength(s string) int {
	i := 0
	for i < len(s) {
		r, n := str.DecodeRune(s[i:])
		if !str.Of(r).Word() {
			break
		}
		i += n
	}
	return i
}

func squeeze(s string) string { return strings.Join(str.Split(s), " ") }

// Exact compares whole texts after the normalisation of F1.
type Exact struct{}

// Score is right when the normalised completion equals that of a target that
// is not blank. The order of words counts.
func (Exact) Score(completion string, target Target) (Score, error) {
	got := F1{}.Normalize(completion)
	for _, t := range target {
		if str.Strip(t) != "" && got == (F1{}).Normalize(t) {
			return Score{Value: Correct, Answer: &completion}, nil
		}
	}
	return Score{Value: Incorrect, Answer: &completion}, nil
}
