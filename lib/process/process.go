// Package process is what every program of ours begins with: its version, and how
// it waits.
package process

import (
	"context"
	"runtime/debug"
	"time"
)

// Version is that of the module that this program was built from, "0.0.0-dev" in
// a build that has none.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.0.0-dev"
}

// Sleep waits, or gives the cause why ctx ended first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
