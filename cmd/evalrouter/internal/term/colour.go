package term

import "strings"

// Words of --color.
const (
	ColourAuto   = "auto"
	ColourAlways = "always"
	ColourNever  = "never"
)

// Coloured says whether a stream gets colour. The flag decides; otherwise
// NO_COLOR, CI and a dumb terminal forbid it, plain lines have none unless
// CLICOLOR_FORCE asks for it, and it needs a terminal otherwise.
func (t *Term) Coloured(tty bool) bool {
	on, _ := t.colour(tty)
	return on
}

// WhyColour is the reason of Coloured for stdout, in words.
func (t *Term) WhyColour() (on bool, why string) { return t.colour(t.OutTTY) }

func (t *Term) colour(tty bool) (on bool, why string) {
	switch {
	case t.Colour == ColourAlways, t.Colour == ColourNever:
		return t.Colour == ColourAlways, "flag"
	case t.Get("NO_COLOR") != "":
		return false, "NO_COLOR"
	case t.Get("TERM") == "dumb":
		return false, "TERM"
	case t.Get("CI") != "":
		return false, "CI"
	case t.Get("CLICOLOR_FORCE") != "" && t.Get("CLICOLOR_FORCE") != "0":
		return true, "CLICOLOR_FORCE"
	case t.Get("ACCESSIBLE") == "1":
		return false, "ACCESSIBLE"
	case t.Get("CLICOLOR") == "0":
		return false, "CLICOLOR"
	case !tty:
		return false, "no terminal"
	}
	return true, "default"
}

// Styles are of the palette that a person has chosen for the terminal, and
// carry nothing that the words do not say.
const (
	styleBold   = "\x1b[1m"
	styleRed    = "\x1b[31m"
	styleYellow = "\x1b[33m"
	styleGreen  = "\x1b[32m"
	styleOff    = "\x1b[0m"
)

// labels are the beginnings of lines that have a style.
func labels() [][2]string {
	return [][2]string{
		{"error:", styleRed}, {"Warning ", styleYellow}, {"  Warning ", styleYellow}, {"Next:", styleGreen}, {"  next:", styleGreen},
		{"Score ", styleBold}, {"Sample ", styleBold},
	}
}

// styled puts colour around the label of a line.
func styled(line string) string {
	for _, l := range labels() {
		if rest, ok := strings.CutPrefix(line, l[0]); ok {
			return l[1] + l[0] + styleOff + rest
		}
	}
	return line
}
