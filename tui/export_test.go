package tui

import (
	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/source"
)

// Screens is the workspace's screens over a service, for tests.
func Screens(src *source.Source, banner string, in *SignIn) *kit.Stack {
	return (&desk{src: src, gate: in}).stack(banner)
}
