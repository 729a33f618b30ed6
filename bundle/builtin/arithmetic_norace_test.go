//go:build !race

package builtin_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/builtin"
)

var numberIn = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// numbers reads the numbers of a text in order.
func numbers(t *testing.T, text string) []float64 {
	t.Helper()
	var out []float64
	for _, s := range numberIn.FindAllString(text, -1) {
		v, err := strconv.ParseFloat(strings.TrimRight(strings.ReplaceAll(s, ",", ""), "."), 64)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		out = append(out, v)
	}
	return out
}

// reading is a wording, known by a phrase, and what it asks for, worked out
// from the wording alone over the numbers in the order in which they stand.
type reading struct {
	phrase string
	solve  func(n []float64) float64
}

var arithmeticReadings = []reading{
	{`buys \d+ packs of`, func(n []float64) float64 { return n[0]*n[1] + n[2] }},
	{`A drawer holds`, func(n []float64) float64 { return n[0] + n[1]*n[2] }},
	{`and gave \d+ of them to each of`, func(n []float64) float64 { return n[0] - n[1]*n[2] }},
	{`visitors received \d+ of them as a gift`, func(n []float64) float64 { return n[0] - n[1]*n[2] }},
	{`left after buying one of each`, func(n []float64) float64 { return n[0] - n[1] - n[2] }},
	{`are left in the purse`, func(n []float64) float64 { return n[0] - n[1] - n[2] }},
	{`are shared equally among`, func(n []float64) float64 { return n[0]/n[1] - n[2] }},
	{`evenly between \d+ groups`, func(n []float64) float64 { return n[0]/n[1] - n[2] }},
	{`How many seats were taken`, func(n []float64) float64 { return n[0]*n[1] - n[2] }},
	{`How many seats were sold`, func(n []float64) float64 { return n[1]*n[2] - n[0] }},
	{`How many pages are still unread`, func(n []float64) float64 { return n[0] - n[1]*n[2] }},
	{`A novel has`, func(n []float64) float64 { return n[0] - n[1]*n[2] }},
	{`to work and the same way back`, func(n []float64) float64 { return 2*n[0]*n[1] + n[2] }},
	{`drives there and back`, func(n []float64) float64 { return 2*n[0]*n[1] + n[2] }},
	{`How many years old is`, func(n []float64) float64 { return n[0] + n[1] - n[2] }},
	{`old is \w+, in years`, func(n []float64) float64 { return n[2] + n[1] - n[0] }},
	{`turn out to be broken`, func(n []float64) float64 { return n[0]*n[1]*n[2] - n[3] }},
	{`in boxes of`, func(n []float64) float64 { return n[0]*n[1]*n[2] - n[3] }},
	{`saves twice as much a week`, func(n []float64) float64 { return n[0]*n[1] - n[2] + 2*n[0]*n[3] }},
	{`into an empty money box`, func(n []float64) float64 { return n[0]*n[1] - n[2] + 2*n[1]*n[3] }},
	{`How many good rolls are left over`, func(n []float64) float64 { return math.Mod(n[0]*n[1]-n[2], n[3]) }},
	{`How many full bags can be packed`, func(n []float64) float64 { return math.Floor((n[0]*n[1] - n[2]) / n[3]) }},
	{`How many dollars do they get back`, func(n []float64) float64 { return n[4] - n[0]*n[2] - n[1]*n[3] }},
	{`How much change, in dollars`, func(n []float64) float64 { return n[4] - n[0]*n[2] - n[1]*n[3] }},
	{`is listed at`, func(n []float64) float64 { return n[0]*(1-n[1]/100) + n[2] }},
	{`During a sale`, func(n []float64) float64 { return n[1]*(1-n[0]/100) + n[2] }},
	{`Both are started at the same time`, func(n []float64) float64 { return n[0]*60*n[2] + n[1]*(60*n[2]-n[3]) }},
	{`Two machines run side by side`, func(n []float64) float64 { return n[1]*60*n[0] + n[2]*(60*n[0]-n[3]) }},
	{`for every further hour`, func(n []float64) float64 { return n[0]*n[1] + (n[0]+n[2])*(n[3]-n[1]) }},
	{`Each hour beyond that pays`, func(n []float64) float64 { return n[1]*n[0] + (n[1]+n[2])*(n[3]-n[0]) }},
	{`After how many minutes is it full`, func(n []float64) float64 { return (n[0] - n[1]) / (n[2] - n[3]) }},
	{`How many minutes pass until it is full`, func(n []float64) float64 { return (n[2] - n[3]) / (n[0] - n[1]) }},
	{`in the fourth test for an average`, func(n []float64) float64 { return 4*n[3] - n[0] - n[1] - n[2] }},
	{`After three rounds of a quiz`, func(n []float64) float64 { return 4*n[3] - n[0] - n[1] - n[2] }},
	{`A gardener sows`, func(n []float64) float64 { return n[0] * n[1] * (1 - n[2]/100) * n[3] }},
	{`fail to grow`, func(n []float64) float64 { return n[0] * n[1] * (1 - n[2]/100) * n[3] }},
	{`into green and white ones`, func(n []float64) float64 { return n[0]/(n[1]+n[2])*(n[2]-n[1]) - n[3] }},
	{`stand in the ratio`, func(n []float64) float64 { return n[0]/(n[1]+n[2])*(n[2]-n[1]) - n[3] }},
	{`do they meet\?`, func(n []float64) float64 { return n[0] / (n[2] + n[3]) * n[2] }},
	{`covered when they meet`, func(n []float64) float64 { return n[0] / (n[2] + n[3]) * n[2] }},
	{`at the end of the first year`, func(n []float64) float64 { return n[0]*(1+n[1]/100)*(1-n[2]/100) + n[3] }},
	{`Rangers counted`, func(n []float64) float64 { return n[0]*(1+n[1]/100)*(1-n[2]/100) + n[3] }},
	{`Everyone needs a seat`, func(n []float64) float64 { return math.Ceil((n[0]+n[1])/n[3]) * n[4] }},
	{`nobody may stand`, func(n []float64) float64 { return math.Ceil((n[1]+n[4])/n[2]) * n[3] }},
	{`Along its whole edge`, func(n []float64) float64 { return 2 * (n[0] + n[1]) / n[3] * n[4] }},
	{`Posts are set around`, func(n []float64) float64 { return 2 * (n[0] + n[1]) / n[2] * n[4] }},
	{`workers would need`, func(n []float64) float64 { return n[0] * (n[1] - n[2]) / (n[0] + n[3]) }},
	{`days have passed, another`, func(n []float64) float64 { return n[0] * (n[1] - n[2]) / (n[0] + n[3]) }},
	{`A trader buys`, func(n []float64) float64 { return (n[0]*n[2]-n[3])*n[4] - n[0]*n[1] }},
	{`What is the profit in dollars`, func(n []float64) float64 { return (n[0]*n[1]-n[3])*n[4] - n[0]*n[2] }},
	{`How many dollars is the monthly pay`, nil}, // fractions in words, see below
	{`goes to the landlord`, nil},
	{`A farmyard is home to`, func(n []float64) float64 { return (n[1] - 2*n[0]) / 2 }},
	{`On a farm there are only`, func(n []float64) float64 { return (4*n[0] - n[1]) / 2 }},
	{`A phone plan costs`, func(n []float64) float64 { return n[4] * (n[0] + (n[3]-n[1])*n[2]/100) }},
	{`for a phone plan with`, func(n []float64) float64 { return n[3] * (n[0] + (n[4]-n[1])*n[2]/100) }},
}

var shareWord = regexp.MustCompile(`\b(?i:half|a third|a quarter|a fifth|a sixth|a seventh)\b`)

// share is what is left of money after the fractions that a text names.
func share(text string) float64 {
	left := 1.0
	for _, w := range shareWord.FindAllString(text, -1) {
		left *= 1 - 1/map[string]float64{"half": 2, "a third": 3, "a quarter": 4, "a fifth": 5, "a sixth": 6, "a seventh": 7}[strings.ToLower(w)]
	}
	return left
}

// Every task is solved a second time, from its words.
func TestArithmetic_SolvedFromItsWords(t *testing.T) {
	t.Parallel()
	b, _ := builtin.Find("arithmetic")
	seen, phrases := make([]int, len(arithmeticReadings)), compile(arithmeticReadings)
	ts := b.Tasks(11, 3000)
	for pos := range ts.Len() {
		x := task(t, ts, pos)
		text, _, _ := strings.Cut(x.Input[0].Text, "\n\n")
		at := only(t, text, phrases)
		seen[at]++
		n := numbers(t, text)
		var got float64
		if solve := arithmeticReadings[at].solve; solve != nil {
			got = solve(n)
		} else {
			got = n[len(n)-1] / share(text)
		}
		want, err := strconv.ParseFloat(x.Target[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-want) > 1e-6 || want < 0 {
			t.Errorf("task %d: target %v, solved %v: %s", pos, want, got, text)
		}
	}
	for i, n := range seen {
		if n == 0 {
			t.Errorf("no task reads %q", arithmeticReadings[i].phrase)
		}
	}
}

func compile(all []reading) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, r := range all {
		out = append(out, regexp.MustCompile(r.phrase))
	}
	return out
}

// only finds the one phrase that a text has.
func only(t *testing.T, text string, all []*regexp.Regexp) int {
	t.Helper()
	at := -1
	for i, re := range all {
		if !re.MatchString(text) {
			continue
		}
		if at >= 0 {
			t.Fatalf("two readings (%q, %q) of: %s", all[at], re, text)
		}
		at = i
	}
	if at < 0 {
		t.Fatalf("no reading of: %s", text)
	}
	return at
}
