package builtin

import (
	"fmt"
	"strconv"
)

// dateForm says how the answer of a date question is written.
type dateForm int

const (
	asDate dateForm = iota
	asWeekday
	asNumber
)

type dateQuestion struct {
	text   string
	answer string
	form   dateForm
}

func onDay(d day, text string) dateQuestion { return dateQuestion{text, d.iso(), asDate} }

func dates(r *rng, level int) draft {
	q := pick(r, dateQuestions[level])(r, dateStyle(r.yes()))
	form := [...]string{
		asDate:    "the date alone, written YYYY-MM-DD",
		asWeekday: "the English name of the weekday alone",
		asNumber:  "the number alone, in digits",
	}[q.form]
	return draft{
		prompt: q.text + "\n\nAll dates are in the Gregorian calendar. " + r.oneOf("Work it out", "Think it through", "Reason step by step", "Take it step by step", "Go through it carefully", "Count with care") +
			", then end with a line of the form \"ANSWER: X\", where X is " + form + ".",
		target: q.answer,
	}
}

var dateQuestions = [3][]func(*rng, dateStyle) dateQuestion{
	{daysLater, daysEarlier, weekdayLater, weeksLater, nthWeekday},
	{daysBetween, dayOfYear, workingDays, monthsLater, lastWeekday, recurring},
	{bothCycles, countWeekdays, biweekly, leaseEnd, twoLegs, leapDay},
}

// someDay draws a day of the years 1950 to 2089.
func someDay(r *rng) day {
	y := r.between(1950, 2089)
	m := r.between(1, 12)
	return date(y, m, r.between(1, monthDays(y, m)))
}

func daysLater(r *rng, s dateStyle) dateQuestion {
	d, n := someDay(r), r.between(11, 120)
	return onDay(d+day(n), fmt.Sprintf(r.oneOf(
		"A parcel is posted on %[1]s and arrives exactly %[2]d days later. On which date does it arrive?",
		"Which date is %[2]d days after %[1]s?",
		"A library book is borrowed on %[1]s and is due %[2]d days after that day. What is the due date?",
	), s.write(d), n))
}

func daysEarlier(r *rng, s dateStyle) dateQuestion {
	d, n := someDay(r), r.between(11, 120)
	return onDay(d-day(n), fmt.Sprintf(r.oneOf(
		"A wedding takes place on %[1]s. The invitations were sent exactly %[2]d days before. On which date were they sent?",
		"Which date is %[2]d days before %[1]s?",
		"An exam is on %[1]s. Registration closes %[2]d days earlier. On which date does it close?",
	), s.write(d), n))
}

func weekdayLater(r *rng, s dateStyle) dateQuestion {
	d, n := someDay(r), r.between(9, 400)
	if r.yes() {
		return dateQuestion{fmt.Sprintf("%s was a %s. Which day of the week was it %d days later?", s.write(d), d.dayName(), n), (d + day(n)).dayName(), asWeekday}
	}
	return dateQuestion{fmt.Sprintf("%s falls on a %s. Which day of the week was it %d days earlier?", s.write(d), d.dayName(), n), (d - day(n)).dayName(), asWeekday}
}

func weeksLater(r *rng, s dateStyle) dateQuestion {
	d, w, n := someDay(r), r.between(2, 20), r.between(1, 6)
	return onDay(d+day(7*w+n), fmt.Sprintf(r.oneOf(
		"A course starts on %[1]s. The closing party is %[2]d weeks and %[3]d days after the start. On which date is the party?",
		"Which date is %[2]d weeks and %[3]d days after %[1]s?",
	), s.write(d), w, n))
}

func nthWeekday(r *rng, _ dateStyle) dateQuestion {
	y, m, w, k := r.between(1801, 2299), r.between(1, 12), r.below(7), r.between(1, 4)
	first := date(y, m, 1)
	return onDay(nth(y, m, w, k), fmt.Sprintf(r.oneOf(
		"A club meets on the %[1]s %[2]s of every month. 1 %[3]s %[4]d is a %[5]s. On which date does the club meet in that month?",
		"1 %[3]s %[4]d is a %[5]s. What is the date of the %[1]s %[2]s of that month?",
	), ordinals[k-1], weekdays[w], monthNames[m-1], y, first.dayName()))
}

func daysBetween(r *rng, s dateStyle) dateQuestion {
	d, n := someDay(r), r.between(40, 900)
	return dateQuestion{fmt.Sprintf(r.oneOf(
		"How many days after %[1]s is %[2]s?",
		"A ship leaves port on %[1]s and returns on %[2]s. How many days lie between the two dates, if the day of departure is not counted and the day of return is?",
		"A countdown runs from %[1]s to %[2]s and drops by one at each midnight. At which number must it start on the first day to show 0 on the last?",
	), s.write(d), s.write(d+day(n))), strconv.Itoa(n), asNumber}
}

func dayOfYear(r *rng, s dateStyle) dateQuestion {
	y, n := r.between(1801, 2299), r.between(40, 365)
	d := date(y, 1, 1) + day(n-1)
	if r.yes() {
		return onDay(d, fmt.Sprintf("If 1 January counts as day 1, which date is day %d of the year %d?", n, y))
	}
	return dateQuestion{fmt.Sprintf("If 1 January counts as day 1, which day of its year is %s?", s.write(d)), strconv.Itoa(n), asNumber}
}

func workingDays(r *rng, s dateStyle) dateQuestion {
	d := someDay(r)
	for !d.working() {
		d++
	}
	n := r.between(4, 45)
	end := d
	for left := n; left > 0; {
		if end++; end.working() {
			left--
		}
	}
	return onDay(end, fmt.Sprintf(r.oneOf(
		"An invoice is issued on %[1]s, a %[2]s. It must be paid within %[3]d working days, where the day of issue does not count. Working days are Monday to Friday, and there are no holidays. What is the last date for the payment?",
		"Counting only Monday to Friday, with no holidays, which date is %[3]d working days after %[2]s, %[1]s?",
	), s.write(d), d.dayName(), n))
}

func monthsLater(r *rng, s dateStyle) dateQuestion {
	y, m := r.between(1950, 2089), r.between(1, 12)
	d := date(y, m, r.between(26, monthDays(y, m)))
	n := r.between(1, 30)
	return onDay(addMonths(d, n), fmt.Sprintf(r.oneOf(
		"A contract is signed on %[1]s and ends %[2]d %[3]s later, on the same day of the month, or on the last day of that month if it is shorter. On which date does it end?",
		"Add %[2]d calendar %[3]s to %[1]s. Keep the day of the month if the resulting month has it, otherwise take the last day of the resulting month. Which date is it?",
	), s.write(d), n, plural(n, "month")))
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func lastWeekday(r *rng, s dateStyle) dateQuestion {
	y, m, w := r.between(1950, 2089), r.between(1, 12), r.below(7)
	hint := date(y, r.between(1, 12), r.between(1, 28))
	return onDay(lastOf(y, m, w), fmt.Sprintf(r.oneOf(
		"%[1]s is a %[2]s. What is the date of the last %[3]s in %[4]s of the same year?",
		"A market is held on the last %[3]s of every month. Given that %[1]s is a %[2]s, on which date is the market of %[4]s in that year?",
	), s.write(hint), hint.dayName(), weekdays[w], monthNames[m-1]))
}

func recurring(r *rng, s dateStyle) dateQuestion {
	d, every, k := someDay(r), r.between(5, 45), r.between(4, 14)
	thing := r.oneOf("A filter is changed", "A patient takes a tablet", "A meter is read", "A generator is tested", "A lawn is mowed")
	return onDay(d+day(every*(k-1)), fmt.Sprintf("%s every %d days, for the first time on %s. On which date does that happen for the %dth time?", thing, every, s.write(d), k))
}

func bothCycles(r *rng, s dateStyle) dateQuestion {
	d := someDay(r)
	g := r.between(2, 6)
	a, b := g*r.between(2, 7), g*r.between(2, 9)
	for a == b {
		b += g
	}
	return onDay(d+day(lcm(a, b)), fmt.Sprintf(r.oneOf(
		"One ferry calls at an island every %[2]d days, another every %[3]d days. Both call there on %[1]s. On which date do both call there on the same day for the next time?",
		"An astronomer cleans one telescope every %[2]d days and another every %[3]d days. On %[1]s both are cleaned. What is the next date on which both are due?",
	), s.write(d), a, b))
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

func countWeekdays(r *rng, s dateStyle) dateQuestion {
	d, n, w := someDay(r), r.between(45, 330), r.below(7)
	count := 0
	for x := d; x <= d+day(n); x++ {
		if x.weekday() == w {
			count++
		}
	}
	return dateQuestion{fmt.Sprintf(r.oneOf(
		"%[1]s is a %[2]s. How many %[3]ss are there from that day to %[4]s, both days included?",
		"A shop is closed on %[3]ss. How many %[3]ss fall in the period from %[1]s, a %[2]s, to %[4]s, with the first and the last day included?",
	), s.write(d), d.dayName(), weekdays[w], s.write(d+day(n))), strconv.Itoa(count), asNumber}
}

func biweekly(r *rng, s dateStyle) dateQuestion {
	d, k := someDay(r), r.between(5, 30)
	skip := r.between(2, k-1)
	return onDay(d+day(14*k), fmt.Sprintf(
		"A choir rehearses every second %[1]s, for the first time on %[2]s. Rehearsal number %[3]d is cancelled: everybody stays at home that day, it gets no number, and the next rehearsal, two weeks later, becomes number %[3]d instead. No other rehearsal is cancelled. On which date is rehearsal number %[4]d?",
		d.dayName(), s.write(d), skip, k))
}

func leaseEnd(r *rng, s dateStyle) dateQuestion {
	y, m := r.between(1950, 2087), r.between(1, 12)
	start := date(y, m, 1)
	n, notice := r.between(3, 24), r.between(20, 95)
	end := addMonths(start, n) - 1
	return onDay(end-day(notice), fmt.Sprintf(
		"A lease starts on %s and runs for %d whole calendar months, so that its last day is the last day of a month. Notice must be given exactly %d days before the last day. On which date must notice be given?",
		s.write(start), n, notice))
}

func twoLegs(r *rng, s dateStyle) dateQuestion {
	d, a, b, c := someDay(r), r.between(12, 70), r.between(2, 15), r.between(5, 60)
	return onDay(d+day(a-b+c), fmt.Sprintf(r.oneOf(
		"A building project was to be finished %[2]d days after %[1]s. Good weather brought the finish forward by %[3]d days. The opening is %[4]d days after the real finish. On which date is the opening?",
		"A ship leaves on %[1]s and is expected back after %[2]d days, but returns %[3]d days early. It sails again %[4]d days after its return. On which date does it sail again?",
	), s.write(d), a, b, c))
}

func leapDay(r *rng, s dateStyle) dateQuestion {
	y := r.between(1890, 2100)
	m := r.between(1, 2)
	from := date(y, m, r.between(1, 28))
	years := r.between(2, 14)
	_, _, dom := from.civil()
	to := date(y+years, r.between(3, 12), dom)
	count := 0
	for x := y; x <= y+years; x++ {
		if leap(x) {
			count++
		}
	}
	if r.yes() {
		return dateQuestion{fmt.Sprintf("How many times does 29 February occur between %s and %s?", s.write(from), s.write(to)), strconv.Itoa(count), asNumber}
	}
	return dateQuestion{fmt.Sprintf("How many days after %s is %s? Mind the leap years.", s.write(from), s.write(to)), strconv.Itoa(int(to - from)), asNumber}
}
