//go:build !race

package builtin_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/builtin"
)

// sizes of units in a base unit of their kind.
var sizes = map[string]float64{
	"kilometres": 1e3, "metres": 1, "centimetres": 1e-2, "millimetres": 1e-3, "micrometres": 1e-6,
	"inches": 0.0254, "feet": 0.3048, "yards": 0.9144, "miles": 1609.344, "nautical miles": 1852,
	"tonnes": 1e6, "kilograms": 1e3, "grams": 1, "milligrams": 1e-3, "pounds": 453.59237, "ounces": 28.349523125, "stones": 6350.29318,
	"hectolitres": 100, "litres": 1, "centilitres": 0.01, "millilitres": 1e-3, "US gallons": 3.785411784, "imperial pints": 0.56826125,
	"cubic metres": 1e3, "cubic decimetres": 1, "cubic centimetres": 1e-3, "cubic millimetres": 1e-6,
	"square kilometres": 1e6, "hectares": 1e4, "square metres": 1, "square centimetres": 1e-4, "square millimetres": 1e-6,
	"hours": 3600, "minutes": 60, "seconds": 1,
	"bytes": 1, "kilobytes": 1e3, "megabytes": 1e6, "gigabytes": 1e9, "kibibytes": 1024, "mebibytes": 1 << 20, "gibibytes": 1 << 30,
}

var (
	plainFrom = regexp.MustCompile(`(-?\d[\d,]*(?:\.\d+)?) ((?:US |imperial |nautical |square |cubic )?[a-z]+)`)
	negative  = regexp.MustCompile(`[ (]-\d`)
	plainTo   = regexp.MustCompile(`(?:in|to|many) ((?:US |imperial |nautical |square |cubic )?[a-z]+)(?:\?|\.| is that| make)`)
)

var unitReadings = []reading{
	{`at \d+ ml each\.`, func(n []float64) float64 { return n[0] * n[1] / 1000 }},
	{`in a kitchen holds`, func(n []float64) float64 { return n[0] * n[1] / 1000 }},
	{`A cook has`, func(n []float64) float64 { return n[0] * 1000 / n[1] }},
	{`ml each make`, func(n []float64) float64 { return n[1] * 1000 / n[0] }},
	{`Celsius on \w+\. What is that in degrees Fahrenheit`, func(n []float64) float64 { return n[0]*1.8 + 32 }},
	{`Fahrenheit on \w+\. What is that in degrees Celsius`, func(n []float64) float64 { return (n[0] - 32) / 1.8 }},
	{`in kelvin`, func(n []float64) float64 { return n[0] + 273.15 }},
	{`How many minutes is that in total`, func(n []float64) float64 { return n[0]*1440 + n[1]*60 + n[2] }},
	{`How many hours is that in total`, func(n []float64) float64 { return n[0]*24 + n[1] + n[2]/60 }},
	{`speed in kilometres per hour`, func(n []float64) float64 { return n[0] * 3600 / 1000 }},
	{`How many kilometres is that in an hour`, func(n []float64) float64 { return n[0] * 3600 / 1000 }},
	{`speed in metres per second`, func(n []float64) float64 { return n[0] * 1000 / 3600 }},
	{`metres does it cover in every second`, func(n []float64) float64 { return n[0] * 1000 / 3600 }},
	{`How many millilitres of fuel`, func(n []float64) float64 { return n[0] / n[1] * n[2] * 1000 }},
	{`How many euros does the fuel`, func(n []float64) float64 { return n[0] / n[1] * n[3] * n[2] }},
	{`What is that in kilograms per cubic metre`, func(n []float64) float64 { return n[0] / 1e3 * 1e6 }},
	{`What is that in grams per cubic centimetre`, func(n []float64) float64 { return n[0] * 1e3 / 1e6 }},
	{`What is the mass of`, func(n []float64) float64 { return n[0] * n[1] * 1000 / 1000 }},
	{`How many cubic metres is that per hour`, func(n []float64) float64 { return n[0] * 60 / 1000 }},
	{`How many litres is that per minute`, func(n []float64) float64 { return n[0] * 1000 / 60 }},
	{`How many cubic metres is that per day`, func(n []float64) float64 { return n[0] * 86400 / 1000 }},
	{`How many seconds does that take\? Take`, func(n []float64) float64 { return n[0] * 8 / n[1] }},
	{`How many megabytes is that\? Take 1 byte`, func(n []float64) float64 { return n[0] * n[1] / 8 }},
	{`How many euros do \d+ grams cost`, func(n []float64) float64 { return n[0] * n[1] / 1000 }},
	{`What is the price per kilogram`, func(n []float64) float64 { return n[0] * 10 }},
	{`What is the price per 250 grams, in cents`, func(n []float64) float64 { return n[0] * 100 / 4 }},
	{`How many hours does s?he need for`, func(n []float64) float64 { return n[0] * n[1] / 60 }},
	{`how many metres does \w+ run in`, func(n []float64) float64 { return n[1] / n[0] * 1000 }},
	{`laps of 400 m each`, func(n []float64) float64 { return n[0] * n[1] / 1000 * n[2] * 60 }},
	{`What is its area in square metres`, func(n []float64) float64 { return n[0] * n[1] / 100 }},
	{`litres of sand`, func(n []float64) float64 { return n[0] * n[1] / 100 * n[2] / 1000 * 1000 }},
}

// solvePlain solves every other wording: one value with its unit, and the unit
// that is asked for.
func solvePlain(t *testing.T, text string) float64 {
	t.Helper()
	text, _, _ = strings.Cut(text, " Take 1 ")
	from, to := plainFrom.FindStringSubmatch(text), plainTo.FindAllStringSubmatch(text, -1)
	if from == nil || len(to) == 0 || sizes[from[2]] == 0 || sizes[to[len(to)-1][1]] == 0 {
		t.Fatalf("cannot read: %s (%v, %v)", text, from, to)
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(from[1], ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v * sizes[from[2]] / sizes[to[len(to)-1][1]]
}

func TestUnits_SolvedFromTheirWords(t *testing.T) {
	t.Parallel()
	b, _ := builtin.Find("units")
	phrases := compile(unitReadings)
	seen := make([]int, len(phrases)+1) // the last counts the plain ones
	ts := b.Tasks(12, 3000)
	for pos := range ts.Len() {
		x := task(t, ts, pos)
		text, _, _ := strings.Cut(x.Input[0].Text, "\n\n")
		var got float64
		if slices.ContainsFunc(phrases, func(re *regexp.Regexp) bool { return re.MatchString(text) }) {
			at := only(t, text, phrases)
			seen[at]++
			n := numbers(t, text)
			if negative.MatchString(text) {
				n[0] = -n[0] // only temperatures are negative, and come first
			}
			got = unitReadings[at].solve(n)
		} else {
			seen[len(phrases)]++
			got = solvePlain(t, text)
		}
		want, err := strconv.ParseFloat(x.Target[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
			t.Errorf("task %d: target %v, solved %v: %s", pos, want, got, text)
		}
	}
	for i, n := range seen {
		if n == 0 {
			t.Errorf("no task has reading %d", i)
		}
	}
}
