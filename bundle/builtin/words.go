package builtin

import (
	"math/big"
	"strconv"
	"strings"
)

// person is a first name with its pronouns.
type person struct{ name, he, his string }

// The tables of this package are data and never change while it runs. Any edit
// changes tasks and so needs new versions of the benchmarks that use them.
var people = []person{
	{"Amara", "she", "her"}, {"Anders", "he", "his"}, {"Beatriz", "she", "her"}, {"Bilal", "he", "his"}, {"Carmen", "she", "her"},
	{"Cedric", "he", "his"}, {"Daria", "she", "her"}, {"Dmitri", "he", "his"}, {"Elif", "she", "her"}, {"Emeka", "he", "his"},
	{"Farah", "she", "her"}, {"Felix", "he", "his"}, {"Greta", "she", "her"}, {"Gustavo", "he", "his"}, {"Hana", "she", "her"},
	{"Hugo", "he", "his"}, {"Ingrid", "she", "her"}, {"Ivan", "he", "his"}, {"Jasmine", "she", "her"}, {"Jonas", "he", "his"},
	{"Keiko", "she", "her"}, {"Kofi", "he", "his"}, {"Leila", "she", "her"}, {"Luca", "he", "his"}, {"Maren", "she", "her"},
	{"Mateo", "he", "his"}, {"Nadia", "she", "her"}, {"Nikhil", "he", "his"}, {"Olga", "she", "her"}, {"Oscar", "he", "his"},
	{"Paula", "she", "her"}, {"Pavel", "he", "his"}, {"Ruth", "she", "her"}, {"Rafael", "he", "his"}, {"Sanna", "she", "her"},
	{"Samir", "he", "his"}, {"Tamara", "she", "her"}, {"Tobias", "he", "his"}, {"Ulrike", "she", "her"}, {"Victor", "he", "his"},
	{"Wanda", "she", "her"}, {"Yusuf", "he", "his"}, {"Zofia", "she", "her"}, {"Zach", "he", "his"},
}

var countables = []string{
	"stickers", "marbles", "postcards", "pencils", "buttons", "beads", "stamps", "seashells", "candles", "trading cards",
	"apples", "oranges", "walnuts", "tulip bulbs", "light bulbs", "tea bags", "paper clips", "batteries", "tennis balls", "toy cars",
	"balloons", "cookies", "envelopes", "coasters", "chestnuts", "magnets", "ribbons", "nails", "tiles", "bookmarks",
}

var weekdays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

var ordinals = []string{"first", "second", "third", "fourth", "fifth"}

// title starts a sentence with a word.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// num writes a whole number as prose does, with commas from 1,000 on.
func num(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && (s[0] != '-' || i > 1); i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// dollars writes an amount of cents, without decimals when it is whole.
func dollars(cents int) string {
	if cents%100 == 0 {
		return "$" + num(cents/100)
	}
	return "$" + num(cents/100) + "." + strconv.Itoa(cents%100/10) + strconv.Itoa(cents%10)
}

// decimal writes a rational whose decimals end, exactly and without trailing
// zeros.
func decimal(v *big.Rat) string {
	digits, exact := v.FloatPrec()
	if !exact {
		panic("builtin: " + v.RatString() + " has no finite decimal form")
	}
	return v.FloatString(digits)
}

// list joins words as prose does.
func list(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
