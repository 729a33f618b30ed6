package builtin

import "fmt"

// The third level: four and more steps, ratios, rates, rounding up, working
// backwards, and details that do not matter.

func ratio(r *rng) problem {
	p, item := pick(r, people), pick(r, countables)
	a, b, k := r.between(2, 6), r.between(7, 12), r.between(4, 30)
	c := r.between(1, (b-a)*k-1)
	return whole((b-a)*k-c, r.oneOf(
		"%[1]s sorts %[2]s %[3]s into green and white ones. For every %[4]d green ones there are %[5]d white ones. Then %[1]s finds %[6]d more green ones. How many more white than green %[3]s are there now?",
		"A box holds %[2]s %[3]s. The green and the white ones, and there are no others, stand in the ratio %[4]d to %[5]d. %[1]s puts in %[6]d more green ones. By how many do the white ones now outnumber the green ones?",
	), p.name, num((a+b)*k), item, a, b, c)
}

func meeting(r *rng) problem {
	v, w, h := r.step(40, 120, 5), r.step(45, 140, 5), r.between(2, 8)
	start := r.between(5, 11)
	towns := some(r, []string{"Ashford", "Brenton", "Calder", "Dunmore", "Eastwick", "Fernley", "Glenrock", "Harwood"}, 2)
	return whole(v*h, r.oneOf(
		"%[1]s and %[2]s are %[3]s km apart along a railway line. At %[6]d o'clock in the morning one train leaves %[1]s for %[2]s at %[4]d km/h, and another leaves %[2]s for %[1]s at %[5]d km/h. How many kilometres from %[1]s do they meet?",
		"The railway line between %[1]s and %[2]s is %[3]s km long. Two trains start towards each other at %[6]d o'clock in the morning, the one from %[1]s at %[4]d km/h and the one from %[2]s at %[5]d km/h. How many kilometres has the train from %[1]s covered when they meet?",
	), towns[0], towns[1], num((v+w)*h), v, w, start)
}

func growth(r *rng) problem {
	n := r.step(1000, 9900, 100)
	up, down, more := r.step(10, 50, 10), r.step(10, 40, 10), r.between(15, 400)
	animals := r.oneOf("trout in a lake", "pheasants in a reserve", "penguins in a colony", "seals on an island")
	return whole(n*(100+up)/100*(100-down)/100+more, r.oneOf(
		"There were %[1]s %[2]s. In the first year their number grew by %[3]d%%. In the second year it fell by %[4]d%% of what it had been at the end of the first year. In the third year %[5]d were added. How many were there then?",
		"Rangers counted %[1]s %[2]s. A year later the number was %[3]d%% higher. In the year after that it dropped by %[4]d%%. Finally %[5]d more came from elsewhere. How many were there in the end?",
	), num(n), animals, up, down, more)
}

func busHire(r *rng) problem {
	size, kids, teachers := r.between(28, 58), r.between(90, 420), r.between(6, 24)
	fare := r.step(180, 690, 5)
	buses := (kids + teachers + size - 1) / size
	hour := r.between(6, 9)
	return whole(buses*fare, r.oneOf(
		"%[1]d pupils and %[2]d teachers go on a trip that starts at %[5]d o'clock. A bus has %[3]d seats for passengers and costs $%[4]d for the day. Everyone needs a seat. How many dollars does it cost to hire as many buses as are needed?",
		"For a trip at %[5]d in the morning, a school with %[1]d pupils hires buses with %[3]d passenger seats at $%[4]d each. %[2]d teachers come along, and nobody may stand. What is the lowest possible cost of the buses, in dollars?",
	), kids, teachers, size, fare, hour)
}

func fence(r *rng) problem {
	gap := r.between(2, 6)
	l, w := gap*r.between(5, 30), gap*r.between(3, 20)
	post, tree := r.step(350, 2400, 10), r.between(3, 20)
	return problem{fmt.Sprintf(r.oneOf(
		"A rectangular garden is %[1]d m long and %[2]d m wide, and %[5]d fruit trees stand in it. Along its whole edge a post is set every %[3]d m, one of them in each corner. A post costs %[4]s. How many dollars do all the posts cost?",
		"Posts are set around a rectangular field of %[1]d m by %[2]d m, with one in each corner and %[3]d m between neighbouring posts. There are %[5]d trees in the field. If one post costs %[4]s, what do the posts cost together, in dollars?",
	), l, w, gap, dollars(post), tree), 2 * (l + w) / gap * post}
}

func joinedWork(r *rng) problem {
	more, rest, done := r.between(2, 12), r.between(2, 30), r.between(2, 30)
	a := more * r.between(1, 4)
	// a workers need extra + done days; a+more finish what is left in rest days.
	for (a+more)*rest%a != 0 {
		rest++
	}
	days := done + (a+more)*rest/a
	job := r.oneOf("repaint a school", "lay a cycle path", "renovate a bridge", "dig a trench", "restore a wall")
	return whole(rest, r.oneOf(
		"%[1]d workers would need %[2]d days to %[5]s. After %[3]d days, %[4]d more workers join them. All work equally fast. How many more days does the work take from then on?",
		"To %[5]s takes %[1]d workers %[2]d days. When %[3]d days have passed, another %[4]d workers come to help, who work at the same speed as the others. In how many further days is the work finished?",
	), a, days, done, more, job)
}

func spoiledGoods(r *rng) problem {
	crates, per := r.between(6, 30), r.between(20, 60)
	cost, price := r.step(500, 2400, 50), r.step(60, 190, 5)
	bad := r.between(4, 60)
	income := (crates*per - bad) * price
	for income <= crates*cost {
		price += 40
		income = (crates*per - bad) * price
	}
	fruit := r.oneOf("mangoes", "melons", "pineapples", "coconuts", "avocados", "pomegranates")
	return problem{fmt.Sprintf(r.oneOf(
		"A trader buys %[1]d crates of %[6]s at %[3]s a crate. Each crate holds %[2]d pieces. %[5]d pieces are spoiled and thrown away, and all the others are sold at %[4]s each. How many dollars of profit does the trader make?",
		"%[1]d crates with %[2]d %[6]s each are bought for %[3]s a crate. All but %[5]d spoiled ones are sold at %[4]s apiece. What is the profit in dollars?",
	), crates, per, dollars(cost), dollars(price), bad, fruit), income - crates*cost}
}

func fractionChain(r *rng) problem {
	p := pick(r, people)
	a, b := r.between(2, 6), r.between(3, 7)
	k := r.between(3, 400)
	names := []string{"", "", "half", "a third", "a quarter", "a fifth", "a sixth", "a seventh"}
	// Of total = a·b·k, (a-1)·b·k is left after the first part and
	// (a-1)·(b-1)·k after the second.
	return whole(a*b*k, r.oneOf(
		"%[1]s spends %[2]s of %[5]s monthly pay on rent and %[3]s of what then remains on food. After that %[6]s has $%[4]s left. How many dollars is the monthly pay?",
		"First %[2]s of a month's pay goes to the landlord. Of the money that is left, %[1]s uses %[3]s for food, and $%[4]s is still there afterwards. How many dollars did %[6]s start with?",
	), p.name, names[a], names[b], num((a-1)*(b-1)*k), p.his, p.he)
}

func headsAndLegs(r *rng) problem {
	two, four := r.between(6, 240), r.between(5, 180)
	pair := pick(r, [][2]string{{"chickens", "rabbits"}, {"ducks", "sheep"}, {"geese", "goats"}, {"turkeys", "pigs"}})
	if r.yes() {
		return whole(four, "A farmyard is home to %[1]s and %[2]s only. Together they have %[3]d heads and %[4]d legs. How many %[2]s are there?", pair[0], pair[1], two+four, 2*two+4*four)
	}
	return whole(two, "On a farm there are only %[1]s and %[2]s, %[3]d animals in all. Counted together they have %[4]d legs. How many of them are %[1]s?", pair[0], pair[1], two+four, 2*two+4*four)
}

func phonePlan(r *rng) problem {
	p := pick(r, people)
	base, free, cents := r.step(800, 3900, 50), r.step(50, 400, 10), r.between(3, 19)
	over, months := r.between(12, 180), r.between(2, 6)
	return problem{fmt.Sprintf(r.oneOf(
		"A phone plan costs %[2]s a month and includes %[3]d minutes. Every further minute costs %[4]d cents. %[1]s uses %[5]d minutes in each of %[6]d months. How many dollars does %[7]s pay for these months in total?",
		"%[1]s pays %[2]s a month for a phone plan with %[3]d free minutes and %[4]d cents for each minute beyond them. In %[6]d months in a row %[7]s talks for %[5]d minutes a month. What does that come to in dollars?",
	), p.name, dollars(base), free, cents, free+over, months, p.he), months * (base + over*cents)}
}
