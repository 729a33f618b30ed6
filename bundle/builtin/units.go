package builtin

import (
	"fmt"
	"math/big"
)

// conversion is a question and its exact answer in the unit that it names.
type conversion struct {
	text   string
	answer *big.Rat
	unit   string
}

func units(r *rng, level int) draft {
	c := pick(r, conversions[level])(r)
	for !told(decimal(c.answer)) {
		c = pick(r, conversions[level])(r)
	}
	return draft{
		prompt: c.text + "\n\n" + r.oneOf("Do not round.", "Give the exact value.", "No rounding is needed.", "Keep all decimals.") + " " + r.oneOf(
			"End with a line of the form \"ANSWER: N\", where N is the exact value as a decimal number without the unit.",
			"The last line must read \"ANSWER: N\", with N as a plain decimal number and no unit.",
			"Finish with a line \"ANSWER: N\", in which N is the value alone, as a decimal number.",
		),
		target: decimal(c.answer),
	}
}

// told says whether the family's rule tells a number from every other with as
// many digits: match compares five significant digits.
func told(number string) bool {
	const compared = 5
	significant := 0
	for _, c := range number {
		if significant > 0 && '0' <= c && c <= '9' || '1' <= c && c <= '9' {
			significant++
		}
	}
	return significant <= compared
}

var conversions = [3][]func(*rng) conversion{
	{metric, clockTime, digital, kitchen},
	{imperial, imperialBack, temperature, areaVolume, mixedTime},
	{speedUnits, fuel, density, flow, download, unitPrice, pace, tiledArea},
}

// frac is a/b.
func frac(a, b int) *big.Rat { return big.NewRat(int64(a), int64(b)) }

func times(v *big.Rat, by ...*big.Rat) *big.Rat {
	out := new(big.Rat).Set(v)
	for _, b := range by {
		out.Mul(out, b)
	}
	return out
}

// measure writes a value with its unit.
func measure(v *big.Rat, unit string) string { return decimal(v) + " " + unit }

// scaled draws a number of up to five digits with up to three decimals.
func scaled(r *rng) *big.Rat { return frac(r.between(101, 99999), pick(r, []int{10, 100, 1000})) }

// step10 is a pair of units whose ratio is a power of ten: one big is ratio
// small.
type step10 struct {
	big, small string
	ratio      int
	stories    []string
}

var lengths = []string{
	"A rope is %[1]s long. How long is it in %[2]s?", "The distance between two marks is %[1]s. Express it in %[2]s.",
	"A surveyor notes a length of %[1]s. What is that in %[2]s?", "Convert %[1]s to %[2]s.",
}

var masses = []string{
	"A parcel weighs %[1]s. What is its mass in %[2]s?", "A laboratory orders %[1]s of a salt. How much is that in %[2]s?",
	"A bag holds %[1]s of grain. Express the mass in %[2]s.", "Convert %[1]s to %[2]s.",
}

var volumes = []string{
	"A bottle contains %[1]s of water. How much is that in %[2]s?", "A recipe for a large party needs %[1]s of stock. Express that in %[2]s.",
	"A pipette system delivers %[1]s in one day. What is that in %[2]s?", "Convert %[1]s to %[2]s.",
}

var metricSteps = []step10{
	{"kilometres", "metres", 1000, lengths}, {"metres", "centimetres", 100, lengths}, {"metres", "millimetres", 1000, lengths},
	{"centimetres", "millimetres", 10, lengths}, {"kilometres", "centimetres", 100000, lengths}, {"metres", "micrometres", 1000000, lengths},
	{"kilograms", "grams", 1000, masses}, {"grams", "milligrams", 1000, masses}, {"tonnes", "kilograms", 1000, masses}, {"kilograms", "milligrams", 1000000, masses},
	{"litres", "millilitres", 1000, volumes}, {"hectolitres", "litres", 100, volumes}, {"litres", "centilitres", 100, volumes}, {"cubic metres", "litres", 1000, volumes},
}

func metric(r *rng) conversion {
	s, v := pick(r, metricSteps), scaled(r)
	from, to, by := s.big, s.small, frac(s.ratio, 1)
	if r.yes() {
		from, to, by = s.small, s.big, frac(1, s.ratio)
	}
	return conversion{fmt.Sprintf(pick(r, s.stories), measure(v, from), to), times(v, by), to}
}

func clockTime(r *rng) conversion {
	if r.yes() { // up: a multiple of 3 over 60 ends
		m := 3 * r.between(7, 29999)
		return conversion{fmt.Sprintf(r.oneOf(
			"A machine has been running for %s minutes. How many hours is that?",
			"All the calls of a week add up to %s minutes. How many hours is that?",
			"Convert %s minutes to hours.",
		), num(m)), frac(m, 60), "hours"}
	}
	v := frac(r.between(5, 4999), pick(r, []int{4, 5, 10, 20, 25}))
	if r.yes() {
		return conversion{fmt.Sprintf(r.oneOf(
			"A flight recorder holds %s of sound. How many minutes is that?",
			"A battery lasts %s. How many minutes is that?",
			"A candle burns for %s. How many minutes is that?",
			"A ferry is under way for %s. How many minutes is that?",
		), measure(v, "hours")), times(v, frac(60, 1)), "minutes"}
	}
	return conversion{fmt.Sprintf(r.oneOf(
		"A freight train is on its way for %s. How many seconds is that?",
		"An experiment takes %s. How many seconds is that?",
		"A satellite is out of contact for %s. How many seconds is that?",
		"A kiln cools down for %s. How many seconds is that?",
	), measure(v, "hours")), times(v, frac(3600, 1)), "seconds"}
}

func digital(r *rng) conversion {
	type prefix struct {
		name  string
		bytes int
	}
	scale := pick(r, [][]prefix{
		{{"bytes", 1}, {"kilobytes", 1000}, {"megabytes", 1000000}, {"gigabytes", 1000000000}},
		{{"bytes", 1}, {"kibibytes", 1 << 10}, {"mebibytes", 1 << 20}, {"gibibytes", 1 << 30}},
	})
	i := r.between(0, 2)
	lo, hi := scale[i], scale[i+1]
	note := fmt.Sprintf("Take 1 %s as %s %s.", singular(hi.name), num(hi.bytes/lo.bytes), lo.name)
	if r.yes() {
		v := frac(r.between(3, 1999), pick(r, []int{1, 2, 4, 5, 10}))
		return conversion{fmt.Sprintf(r.oneOf("A backup takes up %s. How many %s is that? %s", "An archive has a size of %s. Express it in %s. %s"),
			measure(v, hi.name), lo.name, note), times(v, frac(hi.bytes/lo.bytes, 1)), lo.name}
	}
	v := frac(r.between(3, 3999)*125, 1) // 125/1024 ends, and so does 125/1000
	return conversion{fmt.Sprintf(r.oneOf("A log file has grown to %s %s. How many %s is that? %s", "A photo collection needs %s %s. Express this in %s. %s"),
		num(int(v.Num().Int64())), lo.name, hi.name, note), times(v, frac(lo.bytes, hi.bytes)), hi.name}
}

func singular(plural string) string { return plural[:len(plural)-1] }

func kitchen(r *rng) conversion {
	small := pick(r, []struct {
		unit string
		ml   int
	}{{"teaspoons", 5}, {"tablespoons", 15}, {"ladles", 120}, {"cups", 240}, {"mugs", 300}})
	n := r.between(3, 960)
	stuff := r.oneOf("milk", "olive oil", "lemon juice", "cream", "vinegar", "syrup", "broth", "apple juice", "soy sauce", "buttermilk", "honey")
	if r.yes() {
		return conversion{fmt.Sprintf(r.oneOf(
			"A canteen uses %[1]d %[2]s of %[4]s, at %[3]d ml each. How many litres is that?",
			"One of the %[2]s in a kitchen holds %[3]d ml. How many litres of %[4]s are %[1]d %[2]s?",
		), n, small.unit, small.ml, stuff), frac(n*small.ml, 1000), "litres"}
	}
	return conversion{fmt.Sprintf(r.oneOf(
		"A cook has %[1]s of %[4]s and measures it in %[2]s of %[3]d ml. How many %[2]s are there?",
		"How many %[2]s of %[3]d ml each make %[1]s of %[4]s?",
	), measure(frac(n*small.ml, 1000), "litres"), small.unit, small.ml, stuff), frac(n, 1), small.unit}
}

// exact is a customary unit with its exact metric value.
type exact struct {
	one, many  string
	to         string
	ratio, per int // one unit is ratio/per of to
	stories    []string
}

var customary = []exact{
	{"inch", "inches", "centimetres", 254, 100, lengths}, {"foot", "feet", "centimetres", 3048, 100, lengths}, {"yard", "yards", "metres", 9144, 10000, lengths},
	{"mile", "miles", "kilometres", 1609344, 1000000, lengths}, {"nautical mile", "nautical miles", "kilometres", 1852, 1000, lengths},
	{"pound", "pounds", "grams", 45359237, 100000, masses}, {"ounce", "ounces", "grams", 45359237, 1600000, masses}, {"stone", "stones", "kilograms", 635029318, 100000000, masses},
	{"US gallon", "US gallons", "litres", 473176473, 125000000, volumes}, {"imperial pint", "imperial pints", "millilitres", 56826125, 100000, volumes},
}

func (e exact) note() string {
	return fmt.Sprintf("Take 1 %s as exactly %s.", e.one, measure(frac(e.ratio, e.per), e.to))
}

func imperial(r *rng) conversion {
	e := pick(r, customary)
	v := frac(r.between(25, 9999), pick(r, []int{10, 20, 25, 50, 100}))
	return conversion{fmt.Sprintf(pick(r, e.stories), measure(v, e.many), e.to) + " " + e.note(), times(v, frac(e.ratio, e.per)), e.to}
}

func imperialBack(r *rng) conversion {
	e := pick(r, customary)
	v := frac(r.between(25, 9999), pick(r, []int{10, 20, 25, 50, 100}))
	return conversion{fmt.Sprintf(pick(r, e.stories), measure(times(v, frac(e.ratio, e.per)), e.to), e.many) + " " + e.note(), v, e.many}
}

func temperature(r *rng) conversion {
	place := r.oneOf("An oven", "A test chamber", "A chemical reactor", "A kiln", "A heat exchanger", "A probe", "A boiler", "A laboratory bath")
	day := pick(r, weekdays)
	c := frac(r.between(-790, 4800), pick(r, []int{10, 20, 25, 50}))
	f := new(big.Rat).Add(times(c, frac(9, 5)), frac(32, 1))
	switch r.below(3) {
	case 0:
		return conversion{fmt.Sprintf("%s is at %s degrees Celsius on %s. What is that in degrees Fahrenheit?", place, decimal(c), day), f, "degrees Fahrenheit"}
	case 1:
		return conversion{fmt.Sprintf("%s reads %s degrees Fahrenheit on %s. What is that in degrees Celsius?", place, decimal(f), day), c, "degrees Celsius"}
	}
	return conversion{fmt.Sprintf("%s is at %s degrees Celsius on %s. What is that in kelvin? Take 0 degrees Celsius as 273.15 K.", place, decimal(c), day),
		new(big.Rat).Add(c, frac(27315, 100)), "kelvin"}
}

func areaVolume(r *rng) conversion {
	s := pick(r, []struct {
		big, small string
		ratio      int
		thing      string
	}{
		{"square metres", "square centimetres", 10000, "sheet of metal"}, {"hectares", "square metres", 10000, "pasture"}, {"square kilometres", "hectares", 100, "forest"},
		{"square kilometres", "square metres", 1000000, "lake"}, {"cubic metres", "cubic centimetres", 1000000, "block of stone"}, {"cubic metres", "cubic decimetres", 1000, "container"},
		{"square centimetres", "square millimetres", 100, "microchip"}, {"cubic centimetres", "cubic millimetres", 1000, "crystal"},
	})
	v := scaled(r)
	from, to, by := s.big, s.small, frac(s.ratio, 1)
	if r.yes() {
		from, to, by = s.small, s.big, frac(1, s.ratio)
	}
	return conversion{fmt.Sprintf(r.oneOf("A %[3]s measures %[1]s. How many %[2]s is that?", "Express the size of a %[3]s of %[1]s in %[2]s."), measure(v, from), to, s.thing), times(v, by), to}
}

func mixedTime(r *rng) conversion {
	d, h, m := r.between(1, 30), r.between(1, 23), r.between(1, 59)
	thing := r.oneOf("A relay race", "A server update", "A sea voyage", "A chess tournament", "A power cut", "A field test")
	if r.yes() {
		return conversion{fmt.Sprintf("%s lasts %d %s, %d %s and %d %s. How many minutes is that in total?", thing, d, plural(d, "day"), h, plural(h, "hour"), m, plural(m, "minute")),
			frac(1440*d+60*h+m, 1), "minutes"}
	}
	m = 3 * r.between(1, 19)
	return conversion{fmt.Sprintf("%s lasts %d %s, %d %s and %d minutes. How many hours is that in total?", thing, d, plural(d, "day"), h, plural(h, "hour"), m),
		frac(1440*d+60*h+m, 60), "hours"}
}
