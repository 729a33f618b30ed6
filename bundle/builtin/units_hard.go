package builtin

import "fmt"

// The third level: quantities made of two units, where both must change.

func speedUnits(r *rng) conversion {
	who := r.oneOf("A falcon", "A cyclist", "A speedboat", "A train", "A drone", "A hailstone", "A sprinting horse", "A cable car")
	v := frac(r.between(60, 3600), pick(r, []int{50, 80, 100, 125, 200}))
	kmh := times(v, frac(18, 5))
	if r.yes() {
		return conversion{fmt.Sprintf(r.oneOf("%s moves at %s metres per second. What is its speed in kilometres per hour?",
			"%s moves %s metres forward in every second. How many kilometres is that in an hour?"), who, decimal(v)), kmh, "kilometres per hour"}
	}
	return conversion{fmt.Sprintf(r.oneOf("%s moves at %s kilometres per hour. What is its speed in metres per second?",
		"%s covers %s kilometres in every hour at a steady speed. How many metres does it cover in every second?"), who, decimal(kmh)), v, "metres per second"}
}

func fuel(r *rng) conversion {
	use, km := frac(r.between(35, 190), 10), r.step(30, 2400, 10)
	price := frac(r.between(120, 239), 100)
	litres := times(use, frac(km, 100))
	vehicle := r.oneOf("A car", "A van", "A taxi", "A camper", "A delivery truck")
	if r.yes() {
		return conversion{fmt.Sprintf("%s uses %s litres of fuel for every 100 km and drives %s km. How many millilitres of fuel does it use on the way?", vehicle, decimal(use), num(km)),
			times(litres, frac(1000, 1)), "millilitres"}
	}
	return conversion{fmt.Sprintf("%s uses %s litres of fuel for every 100 km. A litre costs %s euros. How many euros does the fuel for %s km cost?", vehicle, decimal(use), decimal(price), num(km)),
		times(litres, price), "euros"}
}

func density(r *rng) conversion {
	d := frac(r.between(51, 2150), 100)
	thing := r.oneOf("An alloy", "A resin", "A mineral", "A ceramic", "A kind of wood glue", "A brine")
	switch r.below(3) {
	case 0:
		return conversion{fmt.Sprintf("%s has a density of %s grams per cubic centimetre. What is that in kilograms per cubic metre?", thing, decimal(d)), times(d, frac(1000, 1)), "kilograms per cubic metre"}
	case 1:
		return conversion{fmt.Sprintf("%s has a density of %s kilograms per cubic metre. What is that in grams per cubic centimetre?", thing, decimal(times(d, frac(1000, 1)))), d, "grams per cubic centimetre"}
	}
	v := frac(r.between(3, 900), 10)
	return conversion{fmt.Sprintf("%s has a density of %s grams per cubic centimetre. What is the mass of %s litres of it, in kilograms?", thing, decimal(d), decimal(v)), times(d, v), "kilograms"}
}

func flow(r *rng) conversion {
	v := frac(r.between(3, 2400), pick(r, []int{1, 2, 5, 10}))
	source := r.oneOf("A pump delivers", "A spring gives", "A turbine lets through", "A pipe carries", "A hydrant releases")
	hourly := times(v, frac(60, 1000))
	switch r.below(3) {
	case 0:
		return conversion{fmt.Sprintf("%s %s litres of water a minute. How many cubic metres is that per hour?", source, decimal(v)), hourly, "cubic metres per hour"}
	case 1:
		return conversion{fmt.Sprintf("%s %s cubic metres of water an hour. How many litres is that per minute?", source, decimal(hourly)), v, "litres per minute"}
	}
	return conversion{fmt.Sprintf("%s %s litres of water a second. How many cubic metres is that per day?", source, decimal(v)), times(v, frac(86400, 1000)), "cubic metres per day"}
}

func download(r *rng) conversion {
	rate, seconds := r.step(4, 960, 4), r.between(9, 3600)
	// rate/8 megabytes a second
	size := frac(rate*seconds, 8)
	thing := r.oneOf("A film", "A game", "A map collection", "A system image", "A data set", "A backup")
	if r.yes() {
		return conversion{fmt.Sprintf("%s of %s megabytes is downloaded at a steady %d megabits per second. How many seconds does that take? Take 1 byte as 8 bits.", thing, decimal(size), rate), frac(seconds, 1), "seconds"}
	}
	return conversion{fmt.Sprintf("%s is downloaded in %s seconds at a steady %d megabits per second. How many megabytes is that? Take 1 byte as 8 bits.", thing, num(seconds), rate), size, "megabytes"}
}

func unitPrice(r *rng) conversion {
	stuff := r.oneOf("Saffron", "Coffee", "Cheese", "Tea", "Paint pigment", "Wool", "Cinnamon", "Honey")
	cents := r.between(105, 9995)
	grams := r.step(50, 950, 50)
	switch r.below(3) {
	case 0:
		return conversion{fmt.Sprintf("%s costs %s euros a kilogram. How many euros do %d grams cost?", stuff, decimal(frac(cents, 100)), grams), frac(cents*grams, 100000), "euros"}
	case 1:
		return conversion{fmt.Sprintf("%s costs %s euros per 100 grams. What is the price per kilogram, in euros?", stuff, decimal(frac(cents, 100))), frac(cents, 10), "euros per kilogram"}
	}
	return conversion{fmt.Sprintf("%s costs %s euros a kilogram. What is the price per 250 grams, in cents?", stuff, decimal(frac(cents, 100))), frac(cents, 4), "cents"}
}

func pace(r *rng) conversion {
	p := pick(r, people)
	minutes := pick(r, []int{3, 4, 5, 6, 8, 10, 12})
	km := frac(r.between(150, 1400), 100)
	total := times(km, frac(minutes, 1))
	switch r.below(3) {
	case 0:
		return conversion{fmt.Sprintf("%s runs at a steady pace of %d minutes per kilometre. How many hours does %s need for %s km?", p.name, minutes, p.he, decimal(times(km, frac(3, 1)))), times(total, frac(3, 60)), "hours"}
	case 1:
		return conversion{fmt.Sprintf("At a steady pace of %d minutes per kilometre, how many metres does %s run in %s minutes?", minutes, p.name, decimal(total)), times(km, frac(1000, 1)), "metres"}
	}
	laps := r.between(3, 40)
	return conversion{fmt.Sprintf("%s runs %d laps of 400 m each at %d minutes per kilometre. How many seconds does that take?", p.name, laps, minutes), frac(laps*400*minutes*60, 1000), "seconds"}
}

func tiledArea(r *rng) conversion {
	l, w := r.between(120, 990), r.between(25, 900)
	room := r.oneOf("A terrace", "A corridor", "A shop floor", "A stage", "A court", "A platform")
	if r.yes() {
		return conversion{fmt.Sprintf("%s is %s m long and %d cm wide. What is its area in square metres?", room, decimal(frac(l, 10)), w), frac(l*w, 1000), "square metres"}
	}
	depth := r.between(5, 90)
	return conversion{fmt.Sprintf("%s is %s m long and %d cm wide, and is covered with a layer of sand %d mm deep. How many litres of sand are needed?", room, decimal(frac(l, 10)), w, depth),
		// l/10 m × w/100 m × depth/1000 m, and 1,000 litres to a cubic metre
		frac(l*w*depth, 1000), "litres"}
}
