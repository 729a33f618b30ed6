package kit_test

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
)

// Without colour every role that colour tells apart looks different in another
// way, and no theme touches the background.
func TestThemes(t *testing.T) {
	t.Parallel()
	for _, theme := range []kit.Theme{kit.Colour, kit.Contrast, kit.Mono} {
		sim := kittest.NewScreen()
		term, err := kit.TakeOver(sim, theme, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := kit.NewCanvas(80, 25)
		roles := []kit.Role{kit.Plain, kit.Strong, kit.Focus, kit.Good, kit.Bad, kit.Warn, kit.Active, kit.Armed}
		for i, r := range roles {
			c.Text(i, 0, r, "x")
		}
		term.Paint(c)
		cells, _, _ := sim.GetContents()
		looks := map[tcell.AttrMask]kit.Role{}
		for i, r := range roles {
			fg, bg, attrs := cells[i].Style.Decompose()
			if bg != tcell.ColorDefault {
				t.Errorf("theme %d, role %d: a background of its own", theme, r)
			}
			if theme != kit.Colour && fg != tcell.ColorDefault {
				t.Errorf("theme %d, role %d: a colour", theme, r)
			}
			if attrs&tcell.AttrDim != 0 {
				t.Errorf("theme %d, role %d: dimmed", theme, r)
			}
			if old, ok := looks[attrs]; theme != kit.Colour && ok && (r == kit.Bad || r == kit.Warn || r == kit.Armed || r == kit.Focus) {
				t.Errorf("theme %d: roles %d and %d look the same", theme, old, r)
			}
			looks[attrs] = r
		}
		term.Close()
	}
}

func TestThemeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  map[string]string
		want kit.Theme
	}{
		{"nothing", nil, kit.Colour},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, kit.Mono},
		{"NO_COLOR before a theme", map[string]string{"NO_COLOR": "1", "EVALROUTER_THEME": "high-contrast"}, kit.Mono},
		{"an empty NO_COLOR is none", map[string]string{"NO_COLOR": ""}, kit.Colour},
		{"high contrast", map[string]string{"EVALROUTER_THEME": "high-contrast"}, kit.Contrast},
		{"mono", map[string]string{"EVALROUTER_THEME": "mono"}, kit.Mono},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := kit.ThemeOf(func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok }); got != tt.want {
				t.Errorf("theme %d, want %d", got, tt.want)
			}
		})
	}
}
