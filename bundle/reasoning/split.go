package reasoning

import (
	"encoding/json"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// splitter walks over a text that holds marks.
type splitter struct {
	text string
	// from is where the part behind the last block starts, and [keptFrom,keptTo)
	// the last part before it that is no reasoning and holds more than white
	// space.
	from, keptFrom, keptTo int
	found                  bool
	opened                 int // where a block was opened that is not yet closed, else -1
	openedLine             bool
	values                 int
	unclosed               map[byte]int // fence character to the shortest run that nothing closes
}

// maxValues bounds how many JSON values are looked for.
const maxValues = 16

func split(text string) Answer {
	s := splitter{text: text, opened: -1, unclosed: map[byte]int{}}
	for i := 0; i < len(text); {
		i += s.step(i)
	}
	switch {
	case s.openedLine:
		return Answer{Found: true, Open: true}
	case !s.found:
		return Answer{Text: text}
	}
	from, to := s.from, len(text)
	if str.Strip(text[from:]) == "" && s.keptTo > 0 {
		from, to = s.keptFrom, s.keptTo
		text = str.RStrip(text[:to])
	}
	rest := str.LStrip(text[from:])
	return Answer{Text: rest, From: len(text) - len(rest), Found: true}
}

// step reads what stands at i, and says how long it is.
func (s *splitter) step(i int) int {
	if s.opened < 0 {
		if n := s.shown(i); n > 0 {
			return n
		}
	}
	if !firsts[s.text[i]] {
		return 1
	}
	kind, size := markAt(s.text[i:])
	if kind == noMark || s.quoted(i, size) {
		return 1
	}
	if kind == shuts {
		s.shut(i, size)
		return size
	}
	if s.opened < 0 {
		s.opened = i
	}
	s.openedLine = s.openedLine || s.startsLine(i)
	return size
}

func (s *splitter) shut(i, size int) {
	switch {
	case s.opened < 0: // opened in the prompt: all before is reasoning
		s.keptFrom, s.keptTo = 0, 0
	case str.Strip(s.text[s.from:s.opened]) != "":
		s.keptFrom, s.keptTo = s.from, s.opened
	}
	s.from, s.found, s.opened, s.openedLine = i+size, true, -1, false
}

// quoted says whether a mark stands alone between quotation marks.
func (s *splitter) quoted(i, size int) bool {
	end := i + size
	return i > 0 && end < len(s.text) && s.text[i-1] == s.text[end] && strings.IndexByte("`\"'", s.text[end]) >= 0
}

func (s *splitter) startsLine(i int) bool {
	for i > 0 && strings.IndexByte(" \t\r\v\f", s.text[i-1]) >= 0 {
		i--
	}
	return i == 0 || s.text[i-1] == '\n'
}

// startsPart says whether nothing but white space stands between the last block
// and i.
func (s *splitter) startsPart(i int) bool {
	for i > s.from && strings.IndexByte(" \t\r\n\v\f", s.text[i-1]) >= 0 {
		i--
	}
	return i == s.from
}

// shown is the length of the code or the JSON value at i.
func (s *splitter) shown(i int) int {
	switch c := s.text[i]; {
	case (c == '`' || c == '~') && (i == 0 || s.text[i-1] != c) && s.startsLine(i):
		return s.fence(i)
	case (c == '{' || c == '[' && s.startsPart(i)) && s.values < maxValues:
		s.values++
		dec := json.NewDecoder(strings.NewReader(s.text[i:]))
		var v json.RawMessage
		if dec.Decode(&v) == nil {
			return int(dec.InputOffset())
		}
	}
	return 0
}

// fence is the length of the fenced code at i, 0 where nothing closes it.
func (s *splitter) fence(i int) int {
	c, run := s.text[i], 0
	for i+run < len(s.text) && s.text[i+run] == c {
		run++
	}
	const shortest, longest = 3, 16
	if n, ok := s.unclosed[c]; run < shortest || run > longest || ok && run >= n {
		return 0
	}
	at := i
	for line := range strings.Lines(s.text[i:]) {
		bare := strings.TrimSpace(line)
		if at > i && len(bare) >= run && strings.Trim(bare, string(c)) == "" {
			return at + len(line) - i
		}
		at += len(line)
	}
	s.unclosed[c] = run
	return 0
}
