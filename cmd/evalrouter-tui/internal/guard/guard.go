// Package guard gives the terminal back when the workspace could not: after a
// kill -9, or when the runtime of the language itself gave up. It is a second,
// sleeping process with the terminal open. The workspace tells it over a pipe
// when it takes the terminal and when it has given it back; when the pipe ends
// in between, nobody else is left to do it.
package guard

import "strings"

// Off is the variable that keeps the second process away when it is "off".
const Off = "EVALROUTER_TUI_GUARD"

// Command is the only argument of the second process.
const Command = "--keep-terminal"

// reset leaves every mode that the workspace can have switched on: the mouse,
// marks around pasted text, focus reports, extended keys, held back drawing, no
// line wrap, the keypad, a hidden cursor, colours, and last the alternate screen.
// A terminal passes over those that it does not know.
func reset() string {
	var b strings.Builder
	for _, mode := range []string{"1000", "1002", "1003", "1006", "2004", "1004", "2026", "9001", "1"} {
		b.WriteString("\x1b[?" + mode + "l")
	}
	return b.String() + "\x1b[<u\x1b[>4;0m\x1b>\x1b[?7h\x1b[?25h\x1b[0m\x1b(B\x1b[?1049l"
}

// farewell is said on the normal screen, where the shell may have printed its
// prompt already.
const farewell = "\r\nThe workspace was killed; the terminal is as it was before. Runs go on.\r\n"
