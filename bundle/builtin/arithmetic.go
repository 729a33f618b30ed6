package builtin

import (
	"fmt"
	"strconv"
)

// problem is a question and its answer in hundredths, because money has cents.
type problem struct {
	text       string
	hundredths int
}

func whole(n int, format string, args ...any) problem {
	return problem{fmt.Sprintf(format, args...), 100 * n}
}

func arithmetic(r *rng, level int) draft {
	p := pick(r, wordProblems[level])(r)
	for !told(hundredths(p.hundredths)) {
		p = pick(r, wordProblems[level])(r)
	}
	return draft{
		prompt: p.text + "\n\n" + r.oneOf(
			"Work through the problem, then end with a line of the form \"ANSWER: N\", where N is the number alone, without a unit.",
			"Show your steps. The last line must read \"ANSWER: N\", with N the number alone, without a unit.",
		),
		target: hundredths(p.hundredths),
	}
}

// hundredths writes n/100 without trailing zeros.
func hundredths(n int) string {
	switch {
	case n%100 == 0:
		return strconv.Itoa(n / 100)
	case n%10 == 0:
		return fmt.Sprintf("%d.%d", n/100, n%100/10)
	}
	return fmt.Sprintf("%d.%02d", n/100, n%100)
}

// wordProblems is the templates by level. All draw their numbers so that every
// step has a whole or an exact decimal result and no quantity turns negative.
var wordProblems = [3][]func(*rng) problem{
	{packs, giveAway, changeLeft, sharing, seats, pagesLeft, commuting, ages, stacking},
	{savings, leftOver, tickets, discount, twoMachines, overtime, tank, average, seedlings},
	{ratio, meeting, growth, busHire, fence, joinedWork, spoiledGoods, fractionChain, headsAndLegs, phonePlan},
}

func packs(r *rng) problem {
	p, item := pick(r, people), pick(r, countables)
	a, b, c := r.between(3, 19), r.between(4, 48), r.between(2, 60)
	return whole(a*b+c, r.oneOf(
		"%[1]s buys %[2]d packs of %[3]d %[5]s each and %[4]d single %[5]s. How many %[5]s does %[1]s buy altogether?",
		"A drawer holds %[4]d loose %[5]s. %[1]s adds %[2]d packs with %[3]d %[5]s in each. How many %[5]s are in the drawer now?",
	), p.name, a, b, c, item)
}

func giveAway(r *rng) problem {
	p, item := pick(r, people), pick(r, countables)
	friends, each := r.between(3, 15), r.between(2, 25)
	left := r.between(3, 120)
	return whole(left, r.oneOf(
		"%[1]s had %[2]s %[3]s and gave %[4]d of them to each of %[6]s %[5]d friends. How many %[3]s does %[1]s have left?",
		"There were %[2]s %[3]s in %[1]s's collection. Each of %[5]d visitors received %[4]d of them as a gift. How many %[3]s remain in the collection?",
	), p.name, num(left+friends*each), item, each, friends, p.his)
}

func changeLeft(r *rng) problem {
	p := pick(r, people)
	goods := some(r, []string{"scarf", "lamp", "puzzle", "notebook", "teapot", "backpack", "vase", "kite", "cookbook", "blanket"}, 2)
	a, b, left := r.step(250, 6000, 5), r.step(250, 6000, 5), r.step(100, 5000, 5)
	return problem{fmt.Sprintf(r.oneOf(
		"%[1]s has %[2]s. A %[3]s costs %[4]s and a %[5]s costs %[6]s. How many dollars does %[1]s have left after buying one of each?",
		"With %[2]s in %[7]s purse, %[1]s buys a %[3]s for %[4]s and then a %[5]s for %[6]s. How many dollars are left in the purse?",
	), p.name, dollars(a+b+left), goods[0], dollars(a), goods[1], dollars(b), p.his), left}
}

func sharing(r *rng) problem {
	item := pick(r, countables)
	kids, gone, left := r.between(3, 24), r.between(2, 12), r.between(2, 40)
	return whole(left, r.oneOf(
		"%[1]s %[2]s are shared equally among %[3]d children. Each child then passes %[4]d of them on to a younger brother or sister. How many %[2]s does each child still have?",
		"A teacher splits %[1]s %[2]s evenly between %[3]d groups. Every group uses up %[4]d of them in an experiment. How many %[2]s are left in each group?",
	), num(kids*(gone+left)), item, kids, gone)
}

func seats(r *rng) problem {
	rows, per := r.between(8, 40), r.between(9, 36)
	empty := r.between(5, rows*per/2)
	place := r.oneOf("theatre", "cinema", "lecture hall", "concert hall", "circus tent")
	day := pick(r, weekdays)
	return whole(rows*per-empty, r.oneOf(
		"A %[1]s has %[2]d rows with %[3]d seats each. On %[4]s evening, %[5]d seats stayed empty. How many seats were taken?",
		"On %[4]s, all but %[5]d seats of a %[1]s were sold. The %[1]s has %[2]d rows of %[3]d seats. How many seats were sold?",
	), place, rows, per, day, empty)
}

func pagesLeft(r *rng) problem {
	p := pick(r, people)
	perDay, days, left := r.between(9, 65), r.between(3, 18), r.between(7, 240)
	return whole(left, r.oneOf(
		"%[1]s is reading a novel of %[2]s pages. %[5]s reads %[3]d pages a day for %[4]d days. How many pages are still unread?",
		"A novel has %[2]s pages. After reading %[3]d pages on each of %[4]d days, how many pages does %[1]s still have to read?",
	), p.name, num(perDay*days+left), perDay, days, title(p.he))
}

func commuting(r *rng) problem {
	p := pick(r, people)
	km, days, extra := r.between(3, 38), r.between(3, 23), r.between(5, 90)
	return whole(2*km*days+extra, r.oneOf(
		"%[1]s cycles %[2]d km to work and the same way back on %[3]d days of the month. %[5]s also goes on one tour of %[4]d km. How many kilometres does %[1]s cycle in total?",
		"The way from home to the office is %[2]d km. In one month %[1]s drives there and back on %[3]d days, and makes one other trip of %[4]d km. How many kilometres is that in all?",
	), p.name, km, days, extra, title(p.he))
}

func ages(r *rng) problem {
	p := some(r, people, 3)
	a, older, younger := r.between(20, 60), r.between(3, 30), r.between(2, 19)
	return whole(a+older-younger, r.oneOf(
		"%[1]s is %[4]d years old. %[2]s is %[5]d years older than %[1]s, and %[3]s is %[6]d years younger than %[2]s. How many years old is %[3]s?",
		"%[3]s is %[6]d years younger than %[2]s. %[2]s is %[5]d years older than %[1]s, who is %[4]d. How old is %[3]s, in years?",
	), p[0].name, p[1].name, p[2].name, a, older, younger)
}

func stacking(r *rng) problem {
	item := pick(r, countables)
	shelves, boxes, per, gone := r.between(3, 12), r.between(3, 14), r.between(5, 30), r.between(2, 14)
	return whole(shelves*boxes*per-gone, r.oneOf(
		"A storeroom has %[1]d shelves. On each shelf stand %[2]d boxes with %[3]d %[5]s in each box. %[4]d of the %[5]s turn out to be broken. How many are not broken?",
		"A shop stores its %[5]s in boxes of %[3]d. There are %[2]d boxes on each of %[1]d shelves. After %[4]d single %[5]s are sold, how many remain?",
	), shelves, boxes, per, gone, item)
}

func savings(r *rng) problem {
	p := pick(r, people)
	a, w, v := r.between(12, 85), r.between(5, 20), r.between(3, 15)
	spent := r.between(20, a*w-1)
	return whole(a*w-spent+2*a*v, r.oneOf(
		"%[1]s saves $%[2]d a week for %[3]d weeks. Then %[6]s spends $%[4]s of it. For the next %[5]d weeks %[6]s saves twice as much a week as before. How many dollars does %[1]s have at the end?",
		"For %[3]d weeks %[1]s puts $%[2]d a week into an empty money box. %[7]s takes out $%[4]s for a present and then doubles the weekly amount for another %[5]d weeks. How many dollars are in the box then?",
	), p.name, a, w, num(spent), v, p.he, title(p.he))
}

func leftOver(r *rng) problem {
	trays, per, bag := r.between(6, 60), r.between(8, 60), r.between(5, 25)
	burnt := r.between(3, 45)
	good := trays*per - burnt
	if r.yes() {
		return whole(good%bag, "A bakery bakes %d trays of %d rolls. %d rolls burn and are thrown away. The others go into bags of %d until no more bag can be filled. How many good rolls are left over?", trays, per, burnt, bag)
	}
	return whole(good/bag, "A bakery bakes %d trays of %d rolls. %d rolls burn and are thrown away. The others are packed into bags of %d. How many full bags can be packed?", trays, per, burnt, bag)
}

func tickets(r *rng) problem {
	adult, child := r.step(900, 3200, 50), r.step(300, 850, 50)
	x, y := r.between(2, 9), r.between(3, 28)
	cost := adult*x + child*y
	paid := (cost/10000 + 1) * 10000
	place := r.oneOf("zoo", "museum", "swimming pool", "planetarium", "castle", "aquarium")
	return problem{fmt.Sprintf(r.oneOf(
		"A ticket for the %[1]s costs %[2]s for adults and %[3]s for children. A group of %[4]d adults and %[5]d children pays with %[6]s in cash. How many dollars do they get back?",
		"%[4]d adults and %[5]d children visit a %[1]s. Adults pay %[2]s each, children %[3]s each. They hand over %[6]s. How much change, in dollars, do they receive?",
	), place, dollars(adult), dollars(child), x, y, dollars(paid)), paid - cost}
}

func discount(r *rng) problem {
	thing := r.oneOf("bicycle", "sofa", "camera", "guitar", "washing machine", "desk", "tent", "sewing machine")
	price, off, ship := r.step(60, 1900, 20), r.step(5, 60, 5), r.between(4, 49)
	return whole(price-price*off/100+ship, r.oneOf(
		"A %[1]s is listed at $%[2]s. In a sale its price is reduced by %[3]d%%. Delivery costs another $%[4]d, which is not reduced. How many dollars does the %[1]s cost with delivery?",
		"During a sale, a shop takes %[3]d%% off the price of a %[1]s that normally costs $%[2]s. The buyer also pays $%[4]d for delivery at the full rate. How many dollars does the buyer pay?",
	), thing, num(price), off, ship)
}

func twoMachines(r *rng) problem {
	a, b, hours := r.between(7, 45), r.between(3, 40), r.between(2, 9)
	stop := r.step(10, 50, 5)
	thing := r.oneOf("bottles", "screws", "bottle caps", "labels", "circuit boards", "cartons")
	return whole(60*hours*a+(60*hours-stop)*b, r.oneOf(
		"One machine makes %[1]d %[5]s a minute, another makes %[2]d a minute. Both are started at the same time and switched off %[3]d hours later, but the second stands still for %[4]d minutes in between. How many %[5]s do they make together?",
		"Two machines run side by side for %[3]d hours. The first turns out %[1]d %[5]s every minute without a break. The second turns out %[2]d every minute, apart from a repair of %[4]d minutes in which it makes none. How many %[5]s are made in all?",
	), a, b, hours, stop, thing)
}

func overtime(r *rng) problem {
	p := pick(r, people)
	base, more := r.between(13, 42), r.between(3, 18)
	normal, extra := r.step(30, 40, 5), r.between(2, 16)
	return whole(base*normal+(base+more)*extra, r.oneOf(
		"%[1]s earns $%[2]d an hour for the first %[3]d hours of a week and $%[4]d more than that for every further hour. Last week %[6]s worked %[5]d hours. How many dollars did %[6]s earn?",
		"Up to %[3]d hours a week, %[1]s is paid $%[2]d an hour. Each hour beyond that pays $%[4]d more an hour. How many dollars does %[6]s earn in a week of %[5]d hours?",
	), p.name, base, normal, more, normal+extra, p.he)
}

func tank(r *rng) problem {
	in, out := r.between(14, 60), r.between(2, 13)
	minutes, start := r.between(8, 95), r.between(10, 400)
	kind := r.oneOf("water tank", "rain barrel", "pool", "cistern")
	return whole(minutes, r.oneOf(
		"A %[1]s that holds %[2]s litres contains %[3]d litres. A pipe fills it with %[4]d litres a minute while %[5]d litres a minute run out through a leak. After how many minutes is it full?",
		"Water flows into a %[1]s at %[4]d litres a minute, and at the same time %[5]d litres a minute leak out. The %[1]s has room for %[2]s litres and holds %[3]d litres at the start. How many minutes pass until it is full?",
	), kind, num(start+(in-out)*minutes), start, in, out)
}

func average(r *rng) problem {
	p := pick(r, people)
	mean := r.between(61, 90)
	a, b, c := mean+r.between(-9, 6), mean+r.between(-9, 6), mean+r.between(-9, 6)
	return whole(4*mean-a-b-c, r.oneOf(
		"%[1]s scored %[2]d, %[3]d and %[4]d points in three tests. How many points does %[6]s need in the fourth test for an average of exactly %[5]d over all four?",
		"After three rounds of a quiz, %[1]s has %[2]d, %[3]d and %[4]d points. What must the score of the fourth round be so that the average of the four rounds is %[5]d points?",
	), p.name, a, b, c, mean, p.he)
}

func seedlings(r *rng) problem {
	rows, per := r.between(6, 24), r.step(10, 60, 5)
	lost := r.step(20, 60, 20)
	price := r.step(25, 250, 5)
	alive := rows * per * (100 - lost) / 100
	plant := r.oneOf("tomato", "pepper", "lettuce", "sunflower", "cabbage", "basil")
	return problem{fmt.Sprintf(r.oneOf(
		"A gardener sows %[1]d rows of %[2]d %[5]s seeds. %[3]d%% of the seeds do not come up. The gardener sells every plant that did come up for %[4]s. How many dollars does that bring in?",
		"Of %[1]d rows with %[2]d %[5]s seeds each, %[3]d%% fail to grow. All the others become plants and are sold at %[4]s apiece. How many dollars are earned?",
	), rows, per, lost, dollars(price), plant), alive * price}
}
