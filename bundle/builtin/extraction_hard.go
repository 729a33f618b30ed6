package builtin

import (
	"fmt"
	"strings"
)

// The second and third level: nested objects and lists, facts that a later
// sentence corrects, values that are absent and must be null, and people or
// amounts that belong to something else.

var goods = []string{
	"desk lamp", "filing cabinet", "office chair", "standing desk", "paper shredder", "label printer", "whiteboard", "projector", "coat stand", "wall clock",
	"extension cord", "hand truck", "step ladder", "tool chest", "heat gun",
}

// lines draws order lines, with their text and total.
func lines(r *rng, n int) (rows []object, text []string, total int) {
	for _, g := range some(r, goods, n) {
		q, price := r.between(2, 24), r.step(495, 29995, 5)
		total += q * price
		rows = append(rows, object{{"item", g}, {"quantity", q}, {"unit_price", amount(price)}})
		text = append(text, fmt.Sprintf("%d of the %s at %s each", q, g, dollars(price)))
	}
	return rows, text, total
}

func orderMail(r *rng) record {
	rows, text, _ := lines(r, r.between(2, 4))
	buyer, firm, ref := fullName(r), company(r), code(r)
	d, s := recentDay(r), dateStyle(r.yes())
	street := fmt.Sprintf("%d %s Street", r.between(2, 299), pick(r, surnames))
	city := pick(r, cities)
	return record{
		text: fmt.Sprintf(r.oneOf(
			"Dear sales team,\n\nunder our order number %[1]s we would like to order %[2]s. Please deliver to %[3]s in %[4]s by %[5]s at the latest.\n\nKind regards\n%[6]s\n%[7]s",
			"Hello,\n\nthis is %[6]s of %[7]s. For order %[1]s please put together %[2]s. The delivery address is %[3]s, %[4]s. We need everything on %[5]s or earlier.\n\nThank you!",
		), ref, list(text), street, city, s.write(d), buyer, firm),
		ask: "Extract the order.",
		schema: `{
  "type": "object",
  "properties": {
    "order_number": {"type": "string"},
    "customer": {
      "type": "object",
      "properties": {
        "name": {"type": "string", "description": "full name of the writer"},
        "company": {"type": "string"}
      },
      "required": ["name", "company"],
      "additionalProperties": false
    },
    "delivery": {
      "type": "object",
      "properties": {
        "street": {"type": "string", "description": "with the house number, as written"},
        "city": {"type": "string"},
        "latest_date": {"type": "string", "description": "YYYY-MM-DD"}
      },
      "required": ["street", "city", "latest_date"],
      "additionalProperties": false
    },
    "lines": {
      "type": "array",
      "description": "in the order of the text",
      "items": {
        "type": "object",
        "properties": {
          "item": {"type": "string", "description": "singular, without an article"},
          "quantity": {"type": "integer"},
          "unit_price": {"type": "number", "description": "in dollars"}
        },
        "required": ["item", "quantity", "unit_price"],
        "additionalProperties": false
      }
    }
  },
  "required": ["order_number", "customer", "delivery", "lines"],
  "additionalProperties": false
}`,
		answer: object{
			{"order_number", ref}, {"customer", object{{"name", buyer}, {"company", firm}}},
			{"delivery", object{{"street", street}, {"city", city}, {"latest_date", d.iso()}}}, {"lines", rows},
		},
	}
}

func meetingMinutes(r *rng) record {
	team := some(r, people, 4)
	d, s := recentDay(r), dateStyle(r.yes())
	jobs := some(r, []string{"update the budget", "call the supplier", "write the press release", "book the venue", "test the backup", "revise the contract", "order new badges", "draft the agenda"}, 3)
	var tasks []object
	var text []string
	for i, job := range jobs {
		due := d + day(r.between(2, 40))
		tasks = append(tasks, object{{"owner", team[i].name}, {"action", job}, {"due", due.iso()}})
		text = append(text, fmt.Sprintf("%s will %s by %s.", team[i].name, job, s.write(due)))
	}
	return record{
		text: fmt.Sprintf(r.oneOf(
			"Minutes of the meeting on %[1]s. %[2]s were present; %[3]s was excused. %[4]s",
			"On %[1]s we met in the small conference room. Present: %[2]s. %[3]s could not come. The following was agreed. %[4]s",
		), s.write(d), list([]string{team[0].name, team[1].name, team[2].name}), team[3].name, strings.Join(text, " ")),
		ask: "Extract the minutes.",
		schema: `{
  "type": "object",
  "properties": {
    "date": {"type": "string", "description": "of the meeting, YYYY-MM-DD"},
    "present": {"type": "array", "items": {"type": "string"}, "description": "first names, in the order of the text"},
    "absent": {"type": "array", "items": {"type": "string"}, "description": "first names"},
    "actions": {
      "type": "array",
      "description": "in the order of the text",
      "items": {
        "type": "object",
        "properties": {
          "owner": {"type": "string"},
          "action": {"type": "string", "description": "as written, starting with the verb, without the date"},
          "due": {"type": "string", "description": "YYYY-MM-DD"}
        },
        "required": ["owner", "action", "due"],
        "additionalProperties": false
      }
    }
  },
  "required": ["date", "present", "absent", "actions"],
  "additionalProperties": false
}`,
		answer: object{
			{"date", d.iso()}, {"present", []string{team[0].name, team[1].name, team[2].name}}, {"absent", []string{team[3].name}}, {"actions", tasks},
		},
	}
}

func rentalListing(r *rng) record {
	city := pick(r, cities)
	rooms, area := r.between(2, 6), r.between(34, 180)
	rent, extra := r.step(480, 2900, 10), r.step(60, 390, 5)
	months := r.between(2, 3)
	d, s := recentDay(r), dateStyle(r.yes())
	pets, lift := r.yes(), r.yes()
	yes := func(v bool, a, b string) string {
		if v {
			return a
		}
		return b
	}
	floor := r.between(1, 5)
	return record{
		text: fmt.Sprintf(r.oneOf(
			"To let in %[1]s: a bright flat on the %[2]s floor with %[3]d rooms and %[4]d square metres. The rent is $%[5]s a month plus $%[6]d a month for heating and water. The deposit is %[7]d months' rent without heating and water. Free from %[8]s. %[9]s %[10]s",
			"A flat of %[4]d square metres in %[1]s, %[3]d rooms, %[2]s floor, is free from %[8]s. Tenants pay $%[5]s a month, and another $%[6]d for heating and water. %[9]s %[10]s We ask for a deposit of %[7]d times the monthly rent, with heating and water left out of the sum.",
		), city, ordinals[floor-1], rooms, area, num(rent), extra, months, s.write(d), yes(lift, "There is a lift.", "There is no lift."), yes(pets, "Pets are welcome.", "Pets are not allowed.")),
		ask: "Extract the listing.",
		schema: `{
  "type": "object",
  "properties": {
    "city": {"type": "string"},
    "floor": {"type": "integer"},
    "rooms": {"type": "integer"},
    "area_m2": {"type": "integer"},
    "monthly": {
      "type": "object",
      "properties": {
        "rent": {"type": "integer", "description": "in dollars, without heating and water"},
        "heating_and_water": {"type": "integer", "description": "in dollars"}
      },
      "required": ["rent", "heating_and_water"],
      "additionalProperties": false
    },
    "deposit": {"type": "integer", "description": "the amount in dollars"},
    "available_from": {"type": "string", "description": "YYYY-MM-DD"},
    "lift": {"type": "boolean"},
    "pets_allowed": {"type": "boolean"}
  },
  "required": ["city", "floor", "rooms", "area_m2", "monthly", "deposit", "available_from", "lift", "pets_allowed"],
  "additionalProperties": false
}`,
		answer: object{
			{"city", city}, {"floor", floor}, {"rooms", rooms}, {"area_m2", area}, {"monthly", object{{"rent", rent}, {"heating_and_water", extra}}},
			{"deposit", months * rent}, {"available_from", d.iso()}, {"lift", lift}, {"pets_allowed", pets},
		},
	}
}

func invoiceTrail(r *rng) record {
	rows, text, total := lines(r, r.between(2, 4))
	seller, buyer, ref, old := company(r), company(r), code(r), code(r)
	for buyer == seller {
		buyer = company(r)
	}
	d, s := recentDay(r), dateStyle(r.yes())
	days := pick(r, []int{10, 14, 21, 30, 45})
	discount := r.step(100, 900, 50)
	oldTotal := total + r.step(1000, 90000, 5)
	var mail any
	contact := "No e-mail address is given."
	if r.yes() {
		address := strings.ToLower(strings.Fields(seller)[0]) + "@example.com"
		mail, contact = address, "Questions go to "+address+"."
	}
	return record{
		text: fmt.Sprintf(r.oneOf(
			"%[1]s has sent %[2]s a corrected invoice, number %[3]s, dated %[4]s. It replaces invoice %[5]s, which came to %[6]s and is void. Billed are now %[7]s. From the sum of these lines a discount of %[8]s is taken off. Payment is due %[9]d days after the date of the invoice. %[10]s",
			"Please disregard invoice %[5]s over %[6]s. In its place, %[1]s issues invoice %[3]s to %[2]s on %[4]s for %[7]s. The sum is reduced by a discount of %[8]s. The invoice is payable within %[9]d days of its date. %[10]s",
		), seller, buyer, ref, s.write(d), old, dollars(oldTotal), list(text), dollars(discount), days, contact),
		ask: "Extract the valid invoice.",
		schema: `{
  "type": "object",
  "properties": {
    "number": {"type": "string"},
    "replaces": {"type": "string", "description": "number of the invoice that is no longer valid"},
    "seller": {"type": "string"},
    "buyer": {"type": "string"},
    "date": {"type": "string", "description": "YYYY-MM-DD"},
    "due_date": {"type": "string", "description": "last day for payment, YYYY-MM-DD"},
    "lines": {
      "type": "array",
      "description": "in the order of the text",
      "items": {
        "type": "object",
        "properties": {
          "item": {"type": "string", "description": "singular, without an article"},
          "quantity": {"type": "integer"},
          "unit_price": {"type": "number", "description": "in dollars"}
        },
        "required": ["item", "quantity", "unit_price"],
        "additionalProperties": false
      }
    },
    "discount": {"type": "number", "description": "in dollars"},
    "total": {"type": "number", "description": "amount to pay in dollars, after the discount"},
    "contact_email": {"type": ["string", "null"], "description": "null if the text gives none"}
  },
  "required": ["number", "replaces", "seller", "buyer", "date", "due_date", "lines", "discount", "total", "contact_email"],
  "additionalProperties": false
}`,
		answer: object{
			{"number", ref}, {"replaces", old}, {"seller", seller}, {"buyer", buyer}, {"date", d.iso()}, {"due_date", (d + day(days)).iso()},
			{"lines", rows}, {"discount", amount(discount)}, {"total", amount(total - discount)}, {"contact_email", mail},
		},
	}
}

func flightChange(r *rng) record {
	traveller, booking := fullName(r), code(r)
	where := some(r, cities, 3)
	d, s := recentDay(r), dateStyle(r.yes())
	moved := d + day(r.between(1, 9))
	_, oldWords := clock(r, 6, 11)
	newISO, newWords := clock(r, 12, 21)
	fare, fee := r.step(8900, 89000, 100), r.step(1500, 9000, 100)
	var seat any
	seatText := "A seat has not been assigned yet."
	if r.yes() {
		v := fmt.Sprintf("%d%c", r.between(1, 38), "ABCDEF"[r.below(6)])
		seat, seatText = v, "The seat is "+v+"."
	}
	return record{
		text: fmt.Sprintf(r.oneOf(
			"Booking %[1]s for %[2]s: the flight from %[3]s to %[4]s, first planned for %[6]s at %[7]s, now leaves on %[8]s at %[9]s. There is still a stop in %[5]s. The fare of %[10]s has been paid; the change costs another %[11]s, which has not been paid. %[12]s",
			"%[2]s wanted to fly from %[3]s by way of %[5]s to %[4]s on %[6]s at %[7]s, and has rebooked. The new departure is on %[8]s at %[9]s. The booking remains %[1]s. %[12]s Besides the fare of %[10]s, already paid, there is a change fee of %[11]s that is still open.",
		), booking, traveller, where[0], where[1], where[2], s.write(d), oldWords, s.write(moved), newWords, dollars(fare), dollars(fee), seatText),
		ask: "Extract the booking as it stands now.",
		schema: `{
  "type": "object",
  "properties": {
    "booking": {"type": "string"},
    "passenger": {"type": "string", "description": "full name"},
    "route": {"type": "array", "items": {"type": "string"}, "description": "all cities in the order of travel"},
    "departure_date": {"type": "string", "description": "YYYY-MM-DD"},
    "departure_time": {"type": "string", "description": "HH:MM, 24 hours"},
    "paid": {"type": "number", "description": "in dollars"},
    "open": {"type": "number", "description": "still to be paid, in dollars"},
    "seat": {"type": ["string", "null"], "description": "null if none is assigned"}
  },
  "required": ["booking", "passenger", "route", "departure_date", "departure_time", "paid", "open", "seat"],
  "additionalProperties": false
}`,
		answer: object{
			{"booking", booking}, {"passenger", traveller}, {"route", []string{where[0], where[2], where[1]}}, {"departure_date", moved.iso()}, {"departure_time", newISO},
			{"paid", amount(fare)}, {"open", amount(fee)}, {"seat", seat},
		},
	}
}

func incidentReport(r *rng) record {
	system := r.oneOf("mail server", "payment gateway", "door control", "booking site", "time clock", "phone system", "archive search")
	d, s := recentDay(r), dateStyle(r.yes())
	h, m, minutes := r.between(0, 19), r.between(0, 59), r.between(12, 230)
	endAt := h*60 + m + minutes
	first, second := r.between(20, 400), r.between(401, 4000)
	who := some(r, people, 2)
	cause := r.oneOf("an expired certificate", "a full disk", "a faulty switch", "a wrong firewall rule", "a failed update", "a power cut")
	fixed := r.yes()
	fix := "The cause has not been removed for good."
	if fixed {
		fix = "The cause has been removed for good."
	}
	return record{
		text: fmt.Sprintf(r.oneOf(
			"On %[1]s the %[2]s was down from %02[3]d:%02[4]d until %[5]s. At first %[6]d affected users were counted, but the log files show that it was %[7]s. %[8]s noticed the fault and %[9]s repaired it. The reason was %[10]s. %[11]s",
			"%[8]s reported that the %[2]s had failed. The outage began on %[1]s at %02[3]d:%02[4]d and ended at %[5]s on the same day, when %[9]s had put it right. It was traced to %[10]s. An early estimate spoke of %[6]d users; the final count of those affected is %[7]s. %[11]s",
		), s.write(d), system, h, m, fmt.Sprintf("%02d:%02d", endAt/60, endAt%60), first, num(second), who[0].name, who[1].name, cause, fix),
		ask: "Extract the report.",
		schema: `{
  "type": "object",
  "properties": {
    "system": {"type": "string", "description": "as written, without an article"},
    "date": {"type": "string", "description": "YYYY-MM-DD"},
    "outage": {
      "type": "object",
      "properties": {
        "start": {"type": "string", "description": "HH:MM"},
        "end": {"type": "string", "description": "HH:MM"},
        "minutes": {"type": "integer", "description": "how long it lasted"}
      },
      "required": ["start", "end", "minutes"],
      "additionalProperties": false
    },
    "affected_users": {"type": "integer", "description": "the final figure"},
    "noticed_by": {"type": "string"},
    "repaired_by": {"type": "string"},
    "cause": {"type": "string", "description": "as written, without an article"},
    "permanently_fixed": {"type": "boolean"}
  },
  "required": ["system", "date", "outage", "affected_users", "noticed_by", "repaired_by", "cause", "permanently_fixed"],
  "additionalProperties": false
}`,
		answer: object{
			{"system", system}, {"date", d.iso()},
			{"outage", object{{"start", fmt.Sprintf("%02d:%02d", h, m)}, {"end", fmt.Sprintf("%02d:%02d", endAt/60, endAt%60)}, {"minutes", minutes}}},
			{"affected_users", second}, {"noticed_by", who[0].name}, {"repaired_by", who[1].name},
			{"cause", cause[strings.Index(cause, " ")+1:]}, {"permanently_fixed", fixed},
		},
	}
}
