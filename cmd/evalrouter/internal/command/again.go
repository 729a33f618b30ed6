package command

import (
	"runtime"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/shellword"
)

// Edit says how a suggested command line differs from the one that was typed.
type Edit struct {
	// Replace exchanges words, such as a mistyped name for the nearest one.
	Replace map[string]string
	// Drop removes flags, named without dashes. Those that stand in Switches too
	// take no value.
	Drop, Switches []string
	// Add stands behind the rest.
	Add []string
}

// Again is the typed command line as a command to paste, with an edit. A word
// that may be a secret is not repeated.
func (a *App) Again(e Edit) string {
	words := []string{"evalrouter"}
	end := indexOr(a.Args, "--")
	for i := 0; i < end; i++ {
		w := a.Args[i]
		name, _, hasValue := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if strings.HasPrefix(w, "--") && slices.Contains(e.Drop, name) {
			if !hasValue && !slices.Contains(e.Switches, name) {
				i++
			}
			continue
		}
		if r, ok := e.Replace[w]; ok {
			w = r
		}
		words = append(words, ShellWord(w))
	}
	words = append(words, e.Add...)
	for _, w := range a.Args[end:] {
		words = append(words, ShellWord(w))
	}
	return strings.Join(words, " ")
}

// ShellWord quotes a word for the shell of this system.
func ShellWord(w string) string {
	if flow.Typed(w) == "that value" && !strings.Contains(w, "://") && w != "" {
		return "VALUE"
	}
	return shellword.Quote(runtime.GOOS, w)
}
