package builtin

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// record is a text, the question about it, the schema and the right object.
type record struct {
	text   string
	ask    string
	schema string
	answer object
}

func extraction(r *rng, level int) draft {
	rec := pick(r, records[level])(r)
	ask := rec.ask + " " + r.oneOf(
		"Reply with one JSON object that meets the schema below, and with nothing else.",
		"Answer with a single JSON object that follows the schema below. Write nothing around it.",
	)
	return draft{
		prompt: rec.text + "\n\n" + ask + "\n\nSchema:\n" + rec.schema,
		target: rec.answer.write(),
		schema: compact(rec.schema),
	}
}

// compact is the schema without white space. The schemas are constants of this
// package.
func compact(schema string) json.RawMessage {
	var b strings.Builder
	inText := false
	for _, c := range schema {
		if c == '"' { // no schema here has an escaped quote
			inText = !inText
		}
		if inText || c != ' ' && c != '\n' {
			b.WriteRune(c)
		}
	}
	return json.RawMessage(b.String())
}

// object is a JSON object whose fields keep their order.
type object []field

type field struct {
	key   string
	value any // string, int, bool, amount, object, []object, []string or nil
}

// amount is money in cents.
type amount int

func (o object) write() string {
	var b strings.Builder
	writeJSON(&b, o)
	return b.String()
}

func writeJSON(b *strings.Builder, v any) {
	switch x := v.(type) {
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString(strconv.Quote(x)) // the words of this package are plain ASCII
	case int:
		b.WriteString(strconv.Itoa(x))
	case bool:
		b.WriteString(strconv.FormatBool(x))
	case amount:
		b.WriteString(hundredths(int(x)))
	case []string:
		writeList(b, x, func(s string) { writeJSON(b, s) })
	case []object:
		writeList(b, x, func(o object) { writeJSON(b, o) })
	case object:
		b.WriteByte('{')
		for i, f := range x {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Quote(f.key) + ": ")
			writeJSON(b, f.value)
		}
		b.WriteByte('}')
	default:
		panic(fmt.Sprintf("builtin: no JSON form for %T", v))
	}
}

func writeList[T any](b *strings.Builder, all []T, one func(T)) {
	b.WriteByte('[')
	for i, v := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		one(v)
	}
	b.WriteByte(']')
}

var records = [3][]func(*rng) record{
	{eventNotice, shipment, jobPosting},
	{orderMail, meetingMinutes, rentalListing},
	{invoiceTrail, flightChange, incidentReport},
}

var surnames = []string{
	"Abernathy", "Bergstrom", "Castellano", "Delacroix", "Eriksen", "Fontaine", "Grimaldi", "Hollister", "Iwasaki", "Jankowski",
	"Kowalczyk", "Lindqvist", "Marchetti", "Nakamura", "Okonkwo", "Petrov", "Quintero", "Rasmussen", "Sandoval", "Thorne",
	"Ueda", "Vasquez", "Whitfield", "Yilmaz", "Zimmermann",
}

var cities = []string{
	"Lisbon", "Tampere", "Ghent", "Leeds", "Porto", "Bergen", "Turin", "Aarhus", "Graz", "Cork", "Lyon", "Malaga", "Gdansk", "Basel", "Utrecht",
	"Nairobi", "Osaka", "Montreal", "Perth", "Denver",
}

func fullName(r *rng) string { return pick(r, people).name + " " + pick(r, surnames) }

func company(r *rng) string {
	return pick(r, surnames) + " " + r.oneOf("Logistics", "Textiles", "Instruments", "Foods", "Printing", "Furniture", "Optics", "Tools")
}

// code is a reference such as KX-4821.
func code(r *rng) string {
	const letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
	return fmt.Sprintf("%c%c-%04d", letters[r.below(len(letters))], letters[r.below(len(letters))], r.between(1000, 9999))
}

// clock is a time of day in 24 hours and as people write it.
func clock(r *rng, from, to int) (iso, words string) {
	h, m := r.between(from, to), pick(r, []int{0, 15, 30, 45})
	half := "am"
	if h >= 12 {
		half = "pm"
	}
	return fmt.Sprintf("%02d:%02d", h, m), fmt.Sprintf("%d:%02d %s", (h+11)%12+1, m, half)
}

// recentDay is a day of the years 2021 to 2029.
func recentDay(r *rng) day { return date(2021, 1, 1) + day(r.below(9*365)) }

func eventNotice(r *rng) record {
	kind := r.oneOf("pottery workshop", "chess evening", "book fair", "open-air concert", "science slam", "repair cafe", "poetry reading", "flea market")
	d, s := recentDay(r), dateStyle(r.yes())
	iso, words := clock(r, 9, 20)
	city, room := pick(r, cities), r.oneOf("town hall", "old library", "harbour museum", "community centre", "botanical garden", "railway depot")
	price, seats := amount(r.step(150, 4500, 50)), r.between(12, 480)
	host := fullName(r)
	return record{
		text: fmt.Sprintf(r.oneOf(
			"The next %[1]s in %[2]s takes place at the %[3]s on %[4]s. Doors open half an hour before it starts at %[5]s. There is room for %[6]d people, and a ticket costs %[7]s. For questions, ask %[8]s, who organises the event.",
			"%[8]s is organising a %[1]s in %[2]s. It is held at the %[3]s on %[4]s and starts at %[5]s. Tickets are %[7]s each. No more than %[6]d people can come.",
		), kind, city, room, s.write(d), words, seats, dollars(int(price)), host),
		ask: "Extract the details of the event.",
		schema: `{
  "type": "object",
  "properties": {
    "event": {"type": "string", "description": "kind of event, as written, without an article"},
    "city": {"type": "string"},
    "venue": {"type": "string", "description": "as written, without an article"},
    "date": {"type": "string", "description": "YYYY-MM-DD"},
    "start_time": {"type": "string", "description": "HH:MM, 24 hours"},
    "capacity": {"type": "integer"},
    "ticket_price": {"type": "number", "description": "in dollars"},
    "organiser": {"type": "string", "description": "full name"}
  },
  "required": ["event", "city", "venue", "date", "start_time", "capacity", "ticket_price", "organiser"],
  "additionalProperties": false
}`,
		answer: object{{"event", kind}, {"city", city}, {"venue", room}, {"date", d.iso()}, {"start_time", iso}, {"capacity", seats}, {"ticket_price", price}, {"organiser", host}},
	}
}

func shipment(r *rng) record {
	ref, other := code(r), code(r)
	where := some(r, cities, 2)
	pieces, kg := r.between(2, 60), r.between(15, 2400)
	d, s := recentDay(r), dateStyle(r.yes())
	fragile := r.yes()
	handling := "The goods are not fragile."
	if fragile {
		handling = "Please handle with care, the goods are fragile."
	}
	from := company(r)
	return record{
		text: fmt.Sprintf(r.oneOf(
			"Shipment %[1]s replaces the cancelled shipment %[2]s. It was handed over by %[3]s in %[4]s on %[5]s and is bound for %[6]s. It consists of %[7]d pieces with a total weight of %[8]s kg. %[9]s",
			"Notice for the warehouse in %[6]s: %[3]s has sent shipment %[1]s from %[4]s on %[5]s, %[7]d pieces, %[8]s kg in all. %[9]s Do not confuse it with shipment %[2]s.",
		), ref, other, from, where[0], s.write(d), where[1], pieces, num(kg), handling),
		ask: "Extract the data of the shipment that the text is about.",
		schema: `{
  "type": "object",
  "properties": {
    "reference": {"type": "string"},
    "sender": {"type": "string", "description": "company name"},
    "origin": {"type": "string", "description": "city"},
    "destination": {"type": "string", "description": "city"},
    "sent_on": {"type": "string", "description": "YYYY-MM-DD"},
    "pieces": {"type": "integer"},
    "weight_kg": {"type": "number"},
    "fragile": {"type": "boolean"}
  },
  "required": ["reference", "sender", "origin", "destination", "sent_on", "pieces", "weight_kg", "fragile"],
  "additionalProperties": false
}`,
		answer: object{{"reference", ref}, {"sender", from}, {"origin", where[0]}, {"destination", where[1]}, {"sent_on", d.iso()}, {"pieces", pieces}, {"weight_kg", kg}, {"fragile", fragile}},
	}
}

func jobPosting(r *rng) record {
	firm, city := company(r), pick(r, cities)
	job := r.oneOf("bookkeeper", "data analyst", "electrician", "graphic designer", "purchasing agent", "lab technician", "translator", "welder")
	low := r.step(32000, 68000, 500)
	high := low + r.step(2000, 18000, 500)
	hours := r.step(20, 40, 5)
	d, s := recentDay(r), dateStyle(r.yes())
	skills := some(r, []string{"spreadsheets", "technical drawing", "customer service", "Spanish", "French", "project planning", "quality control", "first aid", "public speaking"}, 3)
	return record{
		text: fmt.Sprintf(r.oneOf(
			"%[1]s in %[2]s is looking for a new %[3]s for %[4]d hours a week. The yearly salary lies between $%[5]s and $%[6]s. Applicants need experience in %[7]s. Applications are open until %[8]s.",
			"Wanted in %[2]s: %[3]s, %[4]d hours a week, $%[5]s to $%[6]s a year. Experience in %[7]s is required. Send your application to %[1]s by %[8]s.",
		), firm, city, job, hours, num(low), num(high), list(skills), s.write(d)),
		ask: "Extract the job posting.",
		schema: `{
  "type": "object",
  "properties": {
    "employer": {"type": "string"},
    "city": {"type": "string"},
    "position": {"type": "string", "description": "as written, without an article"},
    "hours_per_week": {"type": "integer"},
    "salary_min": {"type": "integer", "description": "dollars a year"},
    "salary_max": {"type": "integer", "description": "dollars a year"},
    "skills": {"type": "array", "items": {"type": "string"}, "description": "in the order of the text"},
    "deadline": {"type": "string", "description": "YYYY-MM-DD"}
  },
  "required": ["employer", "city", "position", "hours_per_week", "salary_min", "salary_max", "skills", "deadline"],
  "additionalProperties": false
}`,
		answer: object{{"employer", firm}, {"city", city}, {"position", job}, {"hours_per_week", hours}, {"salary_min", low}, {"salary_max", high}, {"skills", skills}, {"deadline", d.iso()}},
	}
}
