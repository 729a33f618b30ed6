package term

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/shellword"
)

// Page writes lines for people to one stream. The first failure of the stream
// is kept and stops the rest.
type Page struct {
	W io.Writer
	// Width is where lines are broken, at a space and with a hanging indent;
	// 0 breaks none, which is right for everything but a terminal.
	Width int
	// Colour allows styles around labels; they say nothing by themselves.
	Colour bool
	// ASCII puts plain letters in the place of our own signs, where the terminal
	// may not have them.
	ASCII bool
	// System is the system whose shell a command is pasted into, as Go spells it.
	System string
	err    error
}

// OutPage is a page on the stream of results.
func (t *Term) OutPage() *Page {
	return &Page{W: t.Out, Width: t.width(t.OutTTY), Colour: t.Coloured(t.OutTTY), ASCII: t.ASCII(), System: runtime.GOOS}
}

// ErrPage is a page on the stream for everything else.
func (t *Term) ErrPage() *Page {
	return &Page{W: t.Err, Width: t.width(t.ErrTTY), Colour: t.Coloured(t.ErrTTY), ASCII: t.ASCII(), System: runtime.GOOS}
}

func (t *Term) width(tty bool) int {
	if !tty || t.Columns == nil {
		return 0
	}
	return t.Columns()
}

// Line writes one line. Whatever the arguments hold, the result has no control
// characters, and is one line where the page is not broken.
func (p *Page) Line(format string, args ...any) {
	for _, l := range wrap(string(plain.Line(fmt.Sprintf(format, args...))), p.Width, "") {
		p.line(l)
	}
}

// Head writes the head of a table.
func (p *Page) Head(line plain.Safe) {
	if p.Colour {
		line = styleBold + line + styleOff
	}
	p.Write(line + "\n")
}

// line writes one line that holds no control characters.
func (p *Page) line(l string) {
	if p.Colour {
		l = styled(l)
	}
	p.Write(plain.Safe(l) + "\n")
}

// Next writes the commands that a reader is likely to want, the best first. A
// command that must be broken stays one command for a shell.
func (p *Page) Next(commands ...string) { p.next("Next: ", "  or: ", commands) }

// NextOfError is Next below the lines of an error.
func (p *Page) NextOfError(commands ...string) { p.next("  next: ", "    or: ", commands) }

func (p *Page) next(first, other string, commands []string) {
	for i, c := range commands {
		head := first
		if i > 0 {
			head = other
		}
		for _, l := range wrap(string(plain.Line(head+c)), p.Width, shellword.Continue(p.System)) {
			p.line(l)
		}
	}
}

// Write writes text that is safe already.
func (p *Page) Write(s plain.Safe) {
	if p.ASCII {
		s = plain.Safe(strings.ReplaceAll(string(s), cutSign, "~"))
	}
	if p.err == nil {
		_, p.err = io.WriteString(p.W, string(s))
	}
}

// cutSign ends a text that was cut.
const cutSign = "\u2026"

// Failure is the first failure of the stream.
func (p *Page) Failure() error { return p.err }

const leastWidth = 20

// wrap breaks a line at spaces. What follows the first piece is indented to
// where its text begins. A word that is longer than a line stays whole: the
// terminal breaks it, and it can still be copied.
func wrap(line string, width int, glue string) []string {
	if width < leastWidth || plain.Width(plain.Safe(line)) <= width {
		return []string{line}
	}
	indent := strings.Repeat(" ", hang(line, width))
	limit := width - len(glue)
	var out []string
	for plain.Width(plain.Safe(line)) > width {
		at := breakAt(line, len(indent), limit)
		if at < 0 {
			break
		}
		out = append(out, strings.TrimRight(line[:at], " ")+glue)
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return append(out, line)
}

// hang is the column at which the text of a line begins: behind a label that is
// set off by two spaces or a colon, else behind the line's own indent.
func hang(line string, width int) int {
	lead := len(line) - len(strings.TrimLeft(line, " "))
	rest := line[lead:]
	for _, sep := range []string{"  ", ": "} {
		i := strings.Index(rest, sep)
		if i <= 0 || i > 14 {
			continue
		}
		at := len(line) - len(strings.TrimLeft(line[lead+i+1:], " "))
		if cells := plain.Width(plain.Safe(line[:at])); cells <= width/2 {
			return cells
		}
	}
	if lead >= 4 { // it continues the line above, and so does the rest of it
		return min(lead, width/2)
	}
	return min(lead+2, width/2)
}

// breakAt is the byte offset of the last space behind the indent up to which
// the line fits, or of the first one at all; -1 if there is none.
func breakAt(line string, indent, limit int) int {
	at, cells := -1, 0
	for i, r := range line {
		if r == ' ' && i > indent {
			if cells > limit && at >= 0 {
				return at
			}
			if strings.TrimSpace(line[:i]) != "" {
				at = i
			}
		}
		if cells > limit && at >= 0 {
			return at
		}
		cells += plain.Width(plain.Safe(string(r)))
	}
	return at
}
