package command

import (
	"context"
	"strconv"

	"github.com/evalrouter/evalrouter/lib/profile"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Options shows the settings in force and where each comes from.
func Options(a *App) *argv.Command {
	return &argv.Command{
		Name: "options", Short: "Show the settings in force and why",
		Long:     "Order: flag, environment variable, sign-in, default. Makes no request.",
		Examples: []string{"evalrouter options", "evalrouter options --json"},
		Exec: func(_ context.Context, args []string) error {
			if err := NoOperands(args); err != nil {
				return err
			}
			p, err := a.Profile()
			if err != nil {
				return err
			}
			rows := []profile.Setting{
				p.BaseURL, p.Workspace, p.Credential, a.timeoutSetting(), a.inputSetting(), p.Dirs.State, p.Dirs.Data,
			}
			return a.Value(map[string]any{"data": rows}, func(page *term.Page) {
				for _, s := range rows {
					page.Line("%-14s %-40s %s", s.Name, s.Value, s.From)
				}
			})
		},
	}
}

func (a *App) timeoutSetting() profile.Setting {
	if a.Global.Timeout > 0 {
		return profile.Setting{Name: "timeout", Value: strconv.FormatFloat(a.Global.Timeout, 'g', -1, 64) + " s", From: profile.FromFlag}
	}
	return profile.Setting{Name: "timeout", Value: "120 s", From: profile.FromDefault}
}

func (a *App) inputSetting() profile.Setting {
	s := profile.Setting{Name: "questions", Value: "allowed", From: profile.FromDefault}
	switch {
	case a.Global.NoInput:
		s.Value, s.From = "off", profile.FromFlag
	case a.Term.Get("CI") != "":
		s.Value, s.From = "off", "CI"
	case !a.Term.Attended():
		s.Value, s.From = "off", "no terminal"
	}
	return s
}
