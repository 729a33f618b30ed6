package str

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
	"unicode/utf8"
)

// database is written by unicode14.py, which describes the format.
//
//go:embed unicode14.bin
var database string

const categories = "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCoCn"

const (
	catLt = 2
	catLo = 4
	catPc = 11
	catPo = 17
)

const (
	flagSpace = 1 << iota
	flagPrintable
	flagLower
	flagUpper
	flagCased // and not case-ignorable
	flagCaseIgnorable
	flagIDStart
	flagIDContinue
)

// longMapping marks a case mapping that is an index into tables.long.
const longMapping = 0x40000000

// Rune is what the character database says about one code point.
type Rune struct {
	r              rune
	category       uint8
	flags          uint8
	decimal, digit int8
	numeric        uint16
	mapping        [4]int32 // lower, upper, title, fold
}

const (
	toLower = iota
	toUpper
	toTitle
	toFold
)

type tables struct {
	numeric []float64
	long    [][]rune
	records []Rune
	pages   []uint16
	index   []uint16
}

var unicode14 = sync.OnceValue(func() *tables {
	d := reader{data: database}
	counts := [5]int{}
	for i := range counts {
		counts[i] = int(d.u32())
	}
	t := &tables{}
	for range counts[0] {
		lo := uint64(d.u32())
		t.numeric = append(t.numeric, math.Float64frombits(lo|uint64(d.u32())<<32))
	}
	for range counts[1] {
		text := make([]rune, d.u32())
		for i := range text {
			text[i] = rune(d.u32())
		}
		t.long = append(t.long, text)
	}
	for range counts[2] {
		head := d.u32()
		r := Rune{
			category: uint8(head), flags: uint8(head >> 8), decimal: int8(head >> 16), digit: int8(head >> 24),
			numeric: uint16(d.u32()),
		}
		for i := range r.mapping {
			r.mapping[i] = int32(d.u32())
		}
		t.records = append(t.records, r)
	}
	t.pages = d.u16s(counts[3] * 128)
	t.index = d.u16s(counts[4])
	return t
})

type reader struct {
	data string
	at   int
}

func (d *reader) u32() uint32 {
	v := binary.LittleEndian.Uint32([]byte(d.data[d.at : d.at+4]))
	d.at += 4
	return v
}

func (d *reader) u16s(n int) []uint16 {
	out := make([]uint16, n)
	for i := range out {
		out[i] = uint16(d.data[d.at]) | uint16(d.data[d.at+1])<<8
		d.at += 2
	}
	return out
}

// record returns the shared record of r; its field r is not set.
func record(r rune) *Rune {
	t := unicode14()
	if uint32(r) > utf8.MaxRune {
		r = utf8.MaxRune // unassigned, as anything out of range
	}
	return &t.records[t.pages[int(t.index[r>>7])<<7|int(r&0x7F)]]
}

// Of looks up r. A value that is no code point counts as unassigned.
func Of(r rune) Rune {
	out := *record(r)
	out.r = r
	return out
}

// Category is the general category, such as "Lu" or "Nd".
func (r Rune) Category() string { return categories[2*int(r.category) : 2*int(r.category)+2] }

// Space reports str.isspace, which is also \s of a str pattern.
func (r Rune) Space() bool { return r.flags&flagSpace != 0 }

// Alpha reports str.isalpha: a letter of any kind.
func (r Rune) Alpha() bool { return r.category <= catLo }

// Decimal returns the value of a decimal digit (Nd).
func (r Rune) Decimal() (int, bool) { return int(r.decimal), r.decimal >= 0 }

// Digit is Decimal for digits of any kind, superscripts and circled ones too.
func (r Rune) Digit() (int, bool) { return int(r.digit), r.digit >= 0 }

// Numeric returns the value of a numeric character, fractions and ideographs too.
func (r Rune) Numeric() (float64, bool) {
	if r.numeric == 0 {
		return 0, false
	}
	return unicode14().numeric[r.numeric-1], true
}

// Alnum reports str.isalnum.
func (r Rune) Alnum() bool {
	return r.category <= catLo || r.decimal >= 0 || r.digit >= 0 || r.numeric > 0
}

// Word reports \w of a str pattern: alphanumeric or the underscore. Combining
// marks and other connectors do not count, unlike in most regex engines.
func (r Rune) Word() bool { return r.r == '_' || r.Alnum() }

// Punct reports a general category P*.
func (r Rune) Punct() bool { return r.category >= catPc && r.category <= catPo }

// Printable reports str.isprintable.
func (r Rune) Printable() bool { return r.flags&flagPrintable != 0 }

// Lower is the simple lower-case mapping, one code point to one. It is what
// the re module compares by under IGNORECASE.
func (r Rune) Lower() rune { return r.simple(toLower) }

// Upper is the simple upper-case mapping.
func (r Rune) Upper() rune { return r.simple(toUpper) }

func (r *Rune) simple(kind int) rune {
	m := r.mapping[kind]
	if m >= longMapping {
		return unicode14().long[m-longMapping][0]
	}
	return r.r + m
}
