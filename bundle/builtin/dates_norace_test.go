//go:build !race

package builtin_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle/builtin"
)

var dateIn = regexp.MustCompile(`(\d{1,2}) (January|February|March|April|May|June|July|August|September|October|November|December) (\d{4})|(January|February|March|April|May|June|July|August|September|October|November|December) (\d{1,2}), (\d{4})`)

var (
	statedDay = regexp.MustCompile(`DATE(?: was| is| falls on|,) an? (\w+day)\b`)
	digitsIn  = regexp.MustCompile(`\d+`)
	dayIn     = regexp.MustCompile(`(Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day`)
)

// datesOf reads the dates of a text and returns the text without them.
func datesOf(t *testing.T, text string) ([]time.Time, string) {
	t.Helper()
	var out []time.Time
	for _, s := range dateIn.FindAllString(text, -1) {
		v, err := time.Parse("2 January 2006", s)
		if err != nil {
			v, err = time.Parse("January 2, 2006", s)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out, dateIn.ReplaceAllString(text, "DATE")
}

// dateReading solves a wording with the time package.
type dateReading struct {
	phrase string
	solve  func(q dateText) any // time.Time, time.Weekday or int
}

// dateText is what stands in a question: dates, other numbers in order, and
// names of weekdays and months outside dates.
type dateText struct {
	d        []time.Time
	n        []int
	weekdays []time.Weekday
	months   []time.Month
	text     string
}

func (q dateText) plus(days int) time.Time { return q.d[0].AddDate(0, 0, days) }

func count(from, to time.Time, match func(time.Time) bool) int {
	n := 0
	for x := from; !x.After(to); x = x.AddDate(0, 0, 1) {
		if match(x) {
			n++
		}
	}
	return n
}

func days(from, to time.Time) int { return int(to.Sub(from).Hours() / 24) }

var ordinalWords = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4}

func nthOfMonth(q dateText) any {
	k := ordinalWords[regexp.MustCompile(`first|second|third|fourth`).FindString(q.text)]
	w := q.weekdays[0]
	if strings.Contains(q.text, "What is the date of the") {
		w = q.weekdays[1] // the first names the day of 1 MONTH
	}
	for x, n := q.d[0], 0; ; x = x.AddDate(0, 0, 1) {
		if x.Weekday() == w {
			if n++; n == k {
				return x
			}
		}
	}
}

func lastOfMonth(q dateText) any {
	w := q.weekdays[0]
	if strings.Contains(q.text, "What is the date of the last") {
		w = q.weekdays[1]
	}
	for x := time.Date(q.d[0].Year(), q.months[0]+1, 0, 0, 0, 0, 0, time.UTC); ; x = x.AddDate(0, 0, -1) {
		if x.Weekday() == w {
			return x
		}
	}
}

func monthsOn(q dateText) any {
	d := q.d[0]
	x := time.Date(d.Year(), d.Month()+time.Month(q.n[0]), 1, 0, 0, 0, 0, time.UTC)
	end := x.AddDate(0, 1, -1)
	return x.AddDate(0, 0, min(d.Day(), end.Day())-1)
}

func workdaysOn(q dateText) any {
	x := q.d[0]
	for n := q.n[0]; n > 0; {
		x = x.AddDate(0, 0, 1)
		if x.Weekday() != time.Saturday && x.Weekday() != time.Sunday {
			n--
		}
	}
	return x
}

func together(q dateText) any {
	n := 1
	for n%q.n[0] != 0 || n%q.n[1] != 0 {
		n++
	}
	return q.plus(n)
}

var dateReadings = []dateReading{
	{`arrives exactly`, func(q dateText) any { return q.plus(q.n[0]) }},
	{`^Which date is \d+ days after`, func(q dateText) any { return q.plus(q.n[0]) }},
	{`What is the due date`, func(q dateText) any { return q.plus(q.n[0]) }},
	{`invitations`, func(q dateText) any { return q.plus(-q.n[0]) }},
	{`days before DATE`, func(q dateText) any { return q.plus(-q.n[0]) }},
	{`Registration closes`, func(q dateText) any { return q.plus(-q.n[0]) }},
	{`days later\?$`, func(q dateText) any { return q.plus(q.n[0]).Weekday() }},
	{`days earlier\?$`, func(q dateText) any { return q.plus(-q.n[0]).Weekday() }},
	{`closing party`, func(q dateText) any { return q.plus(7*q.n[0] + q.n[1]) }},
	{`weeks and \d days after DATE`, func(q dateText) any { return q.plus(7*q.n[0] + q.n[1]) }},
	{`A club meets|of that month\?`, nthOfMonth},
	{`^How many days after DATE is DATE\?$`, func(q dateText) any { return days(q.d[0], q.d[1]) }},
	{`A ship leaves port`, func(q dateText) any { return days(q.d[0], q.d[1]) }},
	{`A countdown`, func(q dateText) any { return days(q.d[0], q.d[1]) }},
	{`which date is day`, func(q dateText) any { return time.Date(q.n[3], 1, q.n[2], 0, 0, 0, 0, time.UTC) }},
	{`which day of its year`, func(q dateText) any { return q.d[0].YearDay() }},
	{`An invoice is issued`, workdaysOn},
	{`Counting only Monday to Friday`, workdaysOn},
	{`A contract is signed`, monthsOn},
	{`calendar months? to`, monthsOn},
	{`of the same year`, lastOfMonth},
	{`A market is held`, lastOfMonth},
	{`for the \d+th time`, func(q dateText) any { return q.plus(q.n[0] * (q.n[1] - 1)) }},
	{`One ferry`, together},
	{`An astronomer`, together},
	{`from that day to DATE, both`, func(q dateText) any {
		return count(q.d[0], q.d[1], func(x time.Time) bool { return x.Weekday() == q.weekdays[1] })
	}},
	{`A shop is closed`, func(q dateText) any {
		return count(q.d[0], q.d[1], func(x time.Time) bool { return x.Weekday() == q.weekdays[0] })
	}},
	{`A choir`, func(q dateText) any {
		x := q.d[0]
		for number := 1; ; x = x.AddDate(0, 0, 14) {
			if number == q.n[0] && q.n[0] > 0 {
				q.n[0] = 0 // cancelled once, and the number goes to the next
				continue
			}
			if number == q.n[2] {
				return x
			}
			number++
		}
	}},
	{`A lease`, func(q dateText) any { return q.d[0].AddDate(0, q.n[0], -1).AddDate(0, 0, -q.n[1]) }},
	{`A building project`, func(q dateText) any { return q.plus(q.n[0] - q.n[1] + q.n[2]) }},
	{`sails? again`, func(q dateText) any { return q.plus(q.n[0] - q.n[1] + q.n[2]) }},
	{`29 February occur`, func(q dateText) any {
		return count(q.d[0], q.d[1], func(x time.Time) bool { return x.Month() == time.February && x.Day() == 29 })
	}},
	{`Mind the leap years`, func(q dateText) any { return days(q.d[0], q.d[1]) }},
}

// Every task is solved a second time by the calendar of the time package, and
// every weekday that a question states is true.
func TestDates_SolvedByTimePackage(t *testing.T) {
	t.Parallel()
	b, _ := builtin.Find("dates")
	var phrases []*regexp.Regexp
	for _, r := range dateReadings {
		phrases = append(phrases, regexp.MustCompile(r.phrase))
	}
	seen := make([]int, len(dateReadings))
	ts := b.Tasks(13, 2000)
	for pos := range ts.Len() {
		x := task(t, ts, pos)
		text, _, _ := strings.Cut(x.Input[0].Text, "\n\n")
		q := readDates(t, text)
		at := only(t, q.text, phrases)
		seen[at]++
		got := ""
		switch v := dateReadings[at].solve(q).(type) {
		case time.Time:
			got = v.Format("2006-01-02")
		case time.Weekday:
			got = v.String()
		case int:
			got = strconv.Itoa(v)
		}
		if got != x.Target[0] {
			t.Errorf("task %d: target %s, solved %s: %s", pos, x.Target[0], got, text)
		}
		for _, m := range statedDay.FindAllStringSubmatch(q.text, -1) {
			if m[1] != q.d[0].Weekday().String() {
				t.Errorf("task %d says that it is a %s: %s", pos, m[1], text)
			}
		}
	}
	for i, n := range seen {
		if n == 0 {
			t.Errorf("no task reads %q", dateReadings[i].phrase)
		}
	}
}

func readDates(t *testing.T, text string) dateText {
	t.Helper()
	var q dateText
	q.d, q.text = datesOf(t, text)
	for _, s := range digitsIn.FindAllString(q.text, -1) {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		q.n = append(q.n, n)
	}
	for _, s := range dayIn.FindAllString(q.text, -1) {
		for w := range time.Weekday(7) {
			if w.String() == s {
				q.weekdays = append(q.weekdays, w)
			}
		}
	}
	for m := time.January; m <= time.December; m++ {
		if strings.Contains(q.text, m.String()) {
			q.months = append(q.months, m)
		}
	}
	return q
}
