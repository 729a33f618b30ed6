// Package daemon is the commands that manage the service on this machine.
package daemon

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/profile"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type localCmd struct {
	*command.App
	data  string
	port  int
	lines int
}

// Local manages the service on this machine.
func Local(a *command.App) *argv.Command {
	c := &localCmd{App: a, port: local.DefaultPort, lines: 20}
	sub := func(name, short string, exec func(context.Context, *local.Service) error, more func(*argv.Flags)) *argv.Command {
		fs := argv.NewFlags(name)
		fs.String(&c.data, "data", "DIR", "its data directory")
		if more != nil {
			more(fs)
		}
		return &argv.Command{
			Name: name, Short: short, Flags: fs, Examples: []string{"evalrouter local " + name, "evalrouter local " + name + " --json"},
			Exec: func(ctx context.Context, args []string) error {
				if err := command.NoOperands(args); err != nil {
					return err
				}
				s, err := c.service()
				if err != nil {
					return err
				}
				return exec(ctx, s)
			},
		}
	}
	return &argv.Command{
		Name: "local", Args: "start|stop|status|logs", Short: "Manage the service on this machine",
		Long:     "It starts by itself when a command needs it and stops when it has been idle for\n30 minutes. It listens on this machine only.",
		Examples: []string{"evalrouter local status", "evalrouter local logs --lines 100"},
		Sub: []*argv.Command{
			sub("start", "Start the service if it is not running", c.start, func(fs *argv.Flags) {
				fs.Int(&c.port, "port", "N", "the first port to try (7788)", 1, 65535)
			}),
			sub("stop", "Stop the service; the next start resumes its runs", c.stop, nil),
			sub("status", "Say whether the service is running", c.status, nil),
			sub("logs", "Print the end of the service's log", c.logs, func(fs *argv.Flags) {
				fs.Int(&c.lines, "lines", "N", "how many lines (20)", 1, 10000)
			}),
		},
	}
}

func (c *localCmd) service() (*local.Service, error) {
	dir := c.data
	if dir == "" {
		var err error
		if dir, err = profile.DirsOf(c.Term.Env, c.Term.Home).Data.Path(); err != nil {
			return nil, err
		}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Term.Dir, dir)
	}
	return c.LocalService(dir, c.port), nil
}

type localState struct {
	Running bool          `json:"running"`
	Data    string        `json:"data_dir"`
	Log     string        `json:"log"`
	Service *local.Record `json:"service"`
}

func (c *localCmd) show(s *local.Service, r *local.Record, word string) error {
	st := localState{Running: r != nil, Data: s.Dir, Log: s.LogPath(), Service: r}
	return c.Value(st, func(p *term.Page) {
		if r == nil {
			p.Line("%s", word)
		} else {
			p.Line("%s: %s  version %s  process %d  since %s", word, r.BaseURL, r.Version, r.PID, r.StartedAt.Local().Format("2 Jan 15:04"))
			if r.Version != c.Version {
				p.Line("This is evalrouter %s; evalrouter local stop ends the other version.", c.Version)
			}
		}
		p.Line("Data  %s", s.Dir)
		p.Line("Log   %s", s.LogPath())
	})
}

func (c *localCmd) start(ctx context.Context, s *local.Service) error {
	r, started, err := s.Ensure(ctx)
	if err != nil {
		return err
	}
	return c.show(s, &r, map[bool]string{true: "Started", false: "Running already"}[started])
}

func (c *localCmd) stop(ctx context.Context, s *local.Service) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	r, err := s.Stop(ctx)
	switch {
	case errors.Is(err, local.ErrAbsent):
		return c.show(s, nil, "Not running")
	case err != nil:
		return err
	}
	c.Note("Stopped process %d.", r.PID)
	return c.show(s, nil, "Stopped")
}

func (c *localCmd) status(ctx context.Context, s *local.Service) error {
	r, err := s.Status(ctx)
	switch {
	case errors.Is(err, local.ErrAbsent):
		return c.show(s, nil, "Not running; the next command that needs it starts it")
	case err != nil:
		return err
	}
	return c.show(s, &r, "Running")
}

func (c *localCmd) logs(_ context.Context, s *local.Service) error {
	lines, err := s.Tail(c.lines)
	if errors.Is(err, fs.ErrNotExist) {
		lines, err = []string{}, nil
		c.Note("There is no log yet: %s", s.LogPath())
	} else if err == nil && len(lines) == 0 {
		c.Note("The log is empty: %s", s.LogPath())
	}
	if err != nil {
		return err
	}
	return c.Value(map[string]any{"log": s.LogPath(), "lines": lines}, func(p *term.Page) {
		for _, l := range lines {
			p.Line("%s", l)
		}
	})
}
