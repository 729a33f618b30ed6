package builtin

import "fmt"

// day is a date of the Gregorian calendar as the number of days since the day
// before 1 January of year 1, which was a Monday and so has the number 1.
type day int

var monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func monthDays(year, month int) int {
	switch month {
	case 2:
		if leap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// date makes a day from its year, month from 1 and day of the month.
func date(year, month, dom int) day {
	y := year - 1
	n := 365*y + y/4 - y/100 + y/400 + dom
	for m := 1; m < month; m++ {
		n += monthDays(year, m)
	}
	return day(n)
}

func (d day) civil() (year, month, dom int) {
	year = int(d)/366 + 1 // never too late, and at most a few years early
	for date(year+1, 1, 1) <= d {
		year++
	}
	dom = int(d-date(year, 1, 1)) + 1
	for month = 1; dom > monthDays(year, month); month++ {
		dom -= monthDays(year, month)
	}
	return year, month, dom
}

// weekday counts from Sunday, 0.
func (d day) weekday() int { return int(d) % 7 }

func (d day) dayName() string { return weekdays[d.weekday()] }

func (d day) working() bool { return d.weekday() != 0 && d.weekday() != 6 }

func (d day) iso() string {
	y, m, n := d.civil()
	return fmt.Sprintf("%04d-%02d-%02d", y, m, n)
}

// dateStyle writes dates in words, in one order for a whole task.
type dateStyle bool

func (s dateStyle) write(d day) string {
	y, m, n := d.civil()
	if s {
		return fmt.Sprintf("%d %s %d", n, monthNames[m-1], y)
	}
	return fmt.Sprintf("%s %d, %d", monthNames[m-1], n, y)
}

// addMonths moves by months and stays within the month that it reaches.
func addMonths(d day, months int) day {
	y, m, n := d.civil()
	m += months - 1
	y, m = y+m/12, m%12+1
	return date(y, m, min(n, monthDays(y, m)))
}

// nth is the k-th weekday of a month, k from 1.
func nth(year, month, weekday, k int) day {
	first := date(year, month, 1)
	return first + day((weekday-first.weekday()+7)%7+7*(k-1))
}

// lastOf is the last such weekday of a month.
func lastOf(year, month, weekday int) day {
	end := date(year, month, monthDays(year, month))
	return end - day((end.weekday()-weekday+7)%7)
}
