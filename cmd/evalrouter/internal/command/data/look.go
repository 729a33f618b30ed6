package data

import (
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// Look is the flags of commands that save a file and may show it.
type Look struct{ open, reveal bool }

// Declare adds the flags to a command.
func (l *Look) Declare(fs *argv.Flags) {
	fs.Bool(&l.open, "open", "open the saved file").Rare()
	fs.Bool(&l.reveal, "reveal", "show the saved file in the file manager").Rare()
}

func (l *Look) any() bool { return l.open || l.reveal }

// Show does what was asked for, and nothing otherwise. That nothing could be
// shown is a note: the file is saved, and its path has been printed.
func (l *Look) Show(a *command.App, path string) {
	v := a.Viewer(false)
	if l.open {
		if why := v.File(path); why != "" {
			a.Note("Not opened: %s.", why)
		}
	}
	if l.reveal {
		if why := v.Reveal(path); why != "" {
			a.Note("Not shown: %s.", why)
		}
	}
}
