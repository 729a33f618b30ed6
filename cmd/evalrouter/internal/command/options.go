package command

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/profile"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
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
			rows := a.settings(p)
			return a.Value(map[string]any{"data": rows}, func(page *term.Page) {
				lines, err := table.Render(rows, settingColumns(), table.View{}, cmp.Or(page.Width, anyWidth))
				if err != nil {
					page.Line("The table could not be laid out: %s", err) // it has no choices that could be wrong
					return
				}
				ShowTable(page, lines)
				page.Line("Order: flag, environment, login, default")
			})
		},
	}
}

// anyWidth is that of a file or a pipe, where no line is too long.
const anyWidth = 1 << 16

func settingColumns() []table.Column[profile.Setting] {
	return []table.Column[profile.Setting]{
		{Name: "setting", Whole: true, Text: func(s profile.Setting) string { return s.Name }},
		{Name: "value", Fold: true, Text: func(s profile.Setting) string { return s.Value }},
		{Name: "from", Whole: true, Text: func(s profile.Setting) string { return s.From }},
	}
}

// settings is everything that applies to all commands.
func (a *App) settings(p *profile.Profile) []profile.Setting {
	return []profile.Setting{
		p.BaseURL, p.Workspace, p.Credential, a.timeoutSetting(), a.allowHTTPSetting(p), a.inputSetting(), a.colourSetting(), a.browserSetting(),
		a.plainSetting(), a.copiesSetting(), p.Dirs.State, p.Dirs.Cache, p.Dirs.Config, p.Dirs.Data,
	}
}

func (a *App) timeoutSetting() profile.Setting {
	if a.Global.Timeout > 0 {
		return profile.Setting{Name: "timeout", Value: strconv.FormatFloat(a.Global.Timeout, 'g', -1, 64) + " s", From: profile.FromFlag}
	}
	return profile.Setting{Name: "timeout", Value: "120 s", From: profile.FromDefault}
}

func (a *App) allowHTTPSetting(p *profile.Profile) profile.Setting {
	switch {
	case a.Global.AllowHTTP:
		return profile.Setting{Name: "plain http", Value: "to this machine", From: profile.FromFlag}
	case p.AllowHTTP:
		return profile.Setting{Name: "plain http", Value: "to this machine", From: profile.FromLogin}
	}
	return profile.Setting{Name: "plain http", Value: "no", From: profile.FromDefault}
}

func (a *App) inputSetting() profile.Setting {
	s := profile.Setting{Name: "questions", Value: "allowed", From: profile.FromDefault}
	switch {
	case a.Global.NoInput:
		s.Value, s.From = "off", profile.FromFlag
	case a.WantsJSON():
		s.Value, s.From = "off", "--json"
	case a.Term.Get("CI") != "":
		s.Value, s.From = "off", "CI"
	case !a.Term.Attended():
		s.Value, s.From = "off", "no terminal"
	}
	return s
}

func (a *App) colourSetting() profile.Setting {
	on, why := a.Term.WhyColour()
	return profile.Setting{Name: "color", Value: map[bool]string{true: "on", false: "off"}[on], From: why}
}

func (a *App) browserSetting() profile.Setting {
	if why := a.Viewer(false).Silent(); why != "" {
		return profile.Setting{Name: "browser", Value: "off", From: why}
	}
	return profile.Setting{Name: "browser", Value: "opens pages", From: profile.FromDefault}
}

// plainSetting is whether the terminal gets plain lines only.
func (a *App) plainSetting() profile.Setting {
	switch {
	case a.Term.Get("ACCESSIBLE") == "1":
		return profile.Setting{Name: "plain lines", Value: "on", From: "ACCESSIBLE"}
	case a.Term.Get("TERM") == "dumb":
		return profile.Setting{Name: "plain lines", Value: "on", From: "TERM"}
	}
	return profile.Setting{Name: "plain lines", Value: "off", From: profile.FromDefault}
}

func (a *App) copiesSetting() profile.Setting {
	if strings.EqualFold(a.Term.Get(envReadCache), "off") {
		return profile.Setting{Name: "local copies", Value: "off", From: envReadCache}
	}
	return profile.Setting{Name: "local copies", Value: "of the public catalog, 5 minutes", From: profile.FromDefault}
}
