package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Reply writes what a model might say to a task: a full answer in natural
// words that gives the task's own target, or a plausible wrong value. It is
// for practice routes, and a pure function of its arguments.
//
// The kind of answer follows from the task: a letter for a task with choices,
// a JSON text for a JSON target, a number for a number, else text. A prompt
// that asks for an ANSWER line gets one. Text replies are bare without one,
// because a grader of whole texts would call anything around them wrong.
// Where the grader is at hand, ReplyUnder makes sure.
func Reply(t Task, right bool, seed uint64) string {
	return newReplier(t, right, seed).natural()
}

// ReplyUnder is Reply, held to a grader: it tries the natural answer, then the
// bare value, the form that the grader writes gold in, then other wrong values,
// and returns the first that the grader calls what was asked for.
func ReplyUnder(g Grader, t Task, right bool, seed uint64) (string, error) {
	want := Wrong
	if right {
		want = Right
	}
	for try := range uint64(8) {
		r := newReplier(t, right, seed+try)
		r.thorough = try > 1
		forms := []string{r.natural(), r.value()}
		if w, ok := g.(GoldWriter); ok {
			forms = append(forms, "Let me work it out step by step.\n\n"+w.Gold(r.value()), w.Gold(r.value()))
		}
		for _, text := range forms {
			v, err := g.Grade(t, Answer{Text: text, Finish: FinishStop})
			if err != nil {
				return "", fmt.Errorf("write a reply to task %s: %w", t.ID, err)
			}
			if v.Outcome == want {
				return text, nil
			}
		}
	}
	return "", fmt.Errorf("write a reply to task %s: found none that grades %s", t.ID, want)
}

type replier struct {
	t        Task
	right    bool
	state    uint64
	target   string
	thorough bool // change every value of a JSON target, not one
}

func newReplier(t Task, right bool, seed uint64) *replier {
	r := &replier{t: t, right: right, state: seed}
	if len(t.Target) > 0 {
		r.target = t.Target[0]
	}
	for _, c := range []byte(t.ID) { // tasks of one run get different words
		r.state = (r.state ^ uint64(c)) * 0x100000001b3
	}
	return r
}

// pick draws from [0,n). The finaliser is the one of SplitMix64; the slight
// bias of the remainder does not matter for a choice of words.
func (r *replier) pick(n int) int {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

func (r *replier) oneOf(words ...string) string { return words[r.pick(len(words))] }

func (r *replier) natural() string {
	v := r.value()
	switch {
	case r.asksForLine():
		return r.oneOf("Let me work through this step by step.", "Working it out carefully:", "First I look at what is given, then at what is asked.",
			"Let me check each part in turn.") + "\n\n" + r.oneOf("That settles it.", "Checking once more gives the same result.", "So the result is clear.") + "\n\nANSWER: " + v
	case len(r.t.Choices) > 0:
		return r.oneOf("Comparing the options, only one fits.", "Let me go through the options.", "Most of the options can be ruled out.") + "\n\n" +
			r.oneOf("The answer is "+v+".", "Answer: "+v, "The correct option is ("+v+").")
	case r.isJSON():
		return r.oneOf(v, "```json\n"+v+"\n```", "Here is the JSON:\n\n```json\n"+v+"\n```")
	case r.isNumber():
		return r.oneOf("Let me work it out step by step.", "Adding everything up as described.", "Taking the steps one after the other.") + "\n\n" +
			r.oneOf("The answer is "+v+".", "So the result is "+v+".", "Final answer: "+v)
	}
	return v
}

func (r *replier) asksForLine() bool {
	return len(r.t.Input) > 0 && strings.Contains(r.t.Input[len(r.t.Input)-1].Text, "ANSWER:")
}

func (r *replier) isJSON() bool {
	s := strings.TrimSpace(r.target)
	return (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && json.Valid([]byte(s))
}

var plainNumber = regexp.MustCompile(`^([^\d.\-−]?)([-−]?)([^\d.\-−]?)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(\s?%?)$`)

func (r *replier) isNumber() bool { return plainNumber.MatchString(strings.TrimSpace(r.target)) }

// value is the bare answer.
func (r *replier) value() string {
	if r.right {
		return r.target
	}
	switch {
	case len(r.t.Choices) > 0:
		return r.otherLetter()
	case r.isJSON():
		return r.otherJSON()
	}
	for range 16 { // a wrong value must miss every acceptable answer
		v := r.otherText()
		if !slices.Contains(r.t.Target, v) {
			return v
		}
	}
	return "I am not sure."
}

func (r *replier) otherLetter() string {
	var wrong []string
	for i := range r.t.Choices {
		if l := Letter(i); !slices.Contains(r.t.Target, l) {
			wrong = append(wrong, l)
		}
	}
	if len(wrong) == 0 {
		return "I am not sure."
	}
	return r.oneOf(wrong...)
}

func (r *replier) otherText() string { return r.otherThan(strings.TrimSpace(r.target)) }

func (r *replier) otherThan(s string) string {
	const mark = "#### " // a worked solution, of which only the end is compared
	if i := strings.LastIndex(s, mark); i >= 0 {
		i += len(mark)
		return s[:i] + r.otherThan(s[i:])
	}
	if m := plainNumber.FindStringSubmatch(s); m != nil {
		return m[1] + m[3] + r.otherNumber(m[2], m[4]) + m[5]
	}
	if v, ok := r.otherWord(s); ok {
		return v
	}
	if i := strings.LastIndexAny(s, "0123456789"); i >= 0 {
		return changeDigits(s, r.pick(8)+1)
	}
	return r.oneOf("I am not sure.", "It cannot be determined.", "None of these.")
}

// otherNumber is near the right one, or a slip of a factor, and is written
// with as many decimals. A near miss is at least a thousandth away: graders
// that compare five significant digits must see it.
func (r *replier) otherNumber(minus, digits string) string {
	v, ok := new(big.Rat).SetString(strings.ReplaceAll(digits, ",", ""))
	if !ok {
		return "0"
	}
	if minus != "" {
		v.Neg(v)
	}
	_, decimals, _ := strings.Cut(digits, ".")
	wrong := new(big.Rat)
	switch r.pick(4) {
	case 0:
		wrong.Mul(v, big.NewRat(2, 1))
	case 1:
		wrong.Mul(v, big.NewRat(10, 1))
	case 2:
		wrong.Sub(v, r.step(v))
	default:
		wrong.Add(v, r.step(v))
	}
	if wrong.Cmp(v) == 0 || v.Sign() >= 0 && wrong.Sign() < 0 {
		wrong.Add(v, big.NewRat(1, 1))
	}
	return wrong.FloatString(len(decimals))
}

// step is one to nine, or as many of a thousandth of v's power of ten.
func (r *replier) step(v *big.Rat) *big.Rat {
	n := big.NewRat(int64(1+r.pick(9)), 1)
	for size := new(big.Rat).Abs(v); size.Cmp(big.NewRat(10_000, 1)) >= 0; size.Quo(size, big.NewRat(10, 1)) {
		n.Mul(n, big.NewRat(10, 1))
	}
	return n
}

var isoDate = regexp.MustCompile(`^(\d{4}-\d{2}-)(\d{2})$`)

// otherWord swaps words that belong to a small closed set.
func (r *replier) otherWord(s string) (string, bool) {
	if m := isoDate.FindStringSubmatch(s); m != nil {
		day, _ := strconv.Atoi(m[2]) // two digits
		return m[1] + fmt.Sprintf("%02d", (day+r.pick(26))%28+1), true
	}
	for _, set := range [][]string{
		{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
		{"yes", "no"}, {"Yes", "No"}, {"true", "false"}, {"True", "False"}, {"valid", "invalid"}, {"A", "B", "C", "D", "E"},
	} {
		if at := slices.Index(set, s); at >= 0 {
			return set[(at+1+r.pick(len(set)-1))%len(set)], true
		}
	}
	return "", false
}

// changeDigits moves the first digit of s by step, never to 0 and never to
// itself.
func changeDigits(s string, step int) string {
	i := strings.IndexAny(s, "0123456789")
	d := int(s[i]-'0') - 1
	if d < 0 {
		return s[:i] + strconv.Itoa(step) + s[i+1:]
	}
	return s[:i] + strconv.Itoa((d+step)%9+1) + s[i+1:]
}

// otherJSON changes one value, or all when thorough. Keys come out sorted.
func (r *replier) otherJSON() string {
	dec := json.NewDecoder(strings.NewReader(r.target))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "{}"
	}
	leaves := countLeaves(v)
	at := -1
	if leaves > 0 && !r.thorough {
		at = r.pick(leaves)
	}
	n := 0
	v = r.changeLeaf(v, at, &n)
	if leaves == 0 {
		v = map[string]any{"note": "nothing found"}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "{}"
	}
	return strings.TrimSpace(b.String())
}

func countLeaves(v any) int {
	n := 0
	switch x := v.(type) {
	case map[string]any:
		for _, c := range x {
			n += countLeaves(c)
		}
	case []any:
		for _, c := range x {
			n += countLeaves(c)
		}
	default:
		n = 1
	}
	return n
}

// changeLeaf changes leaf number at, every leaf when at is negative, counting
// in n in the order of sorted keys.
func (r *replier) changeLeaf(v any, at int, n *int) any {
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			x[k] = r.changeLeaf(x[k], at, n)
		}
		return x
	case []any:
		for i := range x {
			x[i] = r.changeLeaf(x[i], at, n)
		}
		return x
	}
	*n++
	if at >= 0 && *n-1 != at {
		return v
	}
	return r.wrongLeaf(v)
}

func (r *replier) wrongLeaf(v any) any {
	switch x := v.(type) {
	case bool:
		return !x
	case json.Number:
		s := x.String()
		if !plainNumber.MatchString(s) {
			return json.Number("0.5")
		}
		return json.Number(r.otherNumber(strings.Repeat("-", strings.Count(s, "-")), strings.TrimPrefix(s, "-")))
	case string:
		if w, ok := r.otherWord(x); ok {
			return w
		}
		if strings.ContainsAny(x, "0123456789") {
			return changeDigits(x, r.pick(8)+1)
		}
		return x + r.oneOf(" Ltd", " (new)", " II")
	}
	return "unknown"
}
