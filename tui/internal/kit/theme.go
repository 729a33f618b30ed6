package kit

import "github.com/gdamore/tcell/v2"

// Theme turns roles into looks. The background is always the terminal's own,
// and nothing is dimmed.
type Theme int

// Themes.
const (
	Colour Theme = iota
	Contrast
	Mono
)

// ThemeOf chooses by the environment: NO_COLOR gets Mono, EVALROUTER_THEME names
// one. A terminal without colours makes Mono of Colour when it is taken over.
func ThemeOf(env func(string) (string, bool)) Theme {
	if v, _ := env("NO_COLOR"); v != "" {
		return Mono
	}
	switch v, _ := env("EVALROUTER_THEME"); v {
	case "mono":
		return Mono
	case "high-contrast":
		return Contrast
	}
	return Colour
}

func (t Theme) colourless() Theme {
	if t == Colour {
		return Mono
	}
	return t
}

func (t Theme) style(r Role) tcell.Style {
	s := tcell.StyleDefault
	switch r {
	case Strong:
		return s.Bold(true)
	case Focus:
		return s.Reverse(true)
	case Armed:
		return s.Bold(true).Reverse(true)
	}
	if t == Colour {
		switch r {
		case Good:
			return s.Foreground(tcell.PaletteColor(2))
		case Bad:
			return s.Foreground(tcell.PaletteColor(1))
		case Warn:
			return s.Foreground(tcell.PaletteColor(3))
		case Active:
			return s.Foreground(tcell.PaletteColor(6))
		}
		return s
	}
	switch r {
	case Good:
		return s.Bold(true)
	case Bad:
		return s.Bold(true).Underline(true)
	case Warn:
		return s.Underline(true)
	}
	return s
}
