package flow_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/evalrouter/evalrouter/lib/flow"
	"pgregory.net/rapid"
)

var errCrash = errors.New("the process is gone")

// crashDisk dies at one of its steps: before it takes effect, after it, or,
// for a write, in the middle. From then on nothing takes effect.
type crashDisk struct {
	flow.OS
	at   int    // the step that dies, counted from 0
	how  string // before, after or half
	step int
	dead bool
}

func (d *crashDisk) do(effect func() error, half func() error) error {
	if d.dead {
		return errCrash
	}
	if d.step++; d.step-1 != d.at {
		return effect()
	}
	d.dead = true
	switch {
	case d.how == "after":
		_ = effect()
	case d.how == "half" && half != nil:
		_ = half()
	}
	return errCrash
}

func (d *crashDisk) MakeDir(dir string) error {
	return d.do(func() error { return d.OS.MakeDir(dir) }, nil)
}

func (d *crashDisk) Create(path string, data []byte) error {
	return d.do(func() error { return d.OS.Create(path, data) }, func() error { return os.WriteFile(path, data[:len(data)/2], 0o600) })
}

func (d *crashDisk) Rename(from, to string) error {
	return d.do(func() error { return d.OS.Rename(from, to) }, nil)
}

func (d *crashDisk) SyncDir(dir string) error {
	return d.do(func() error { return d.OS.SyncDir(dir) }, nil)
}

func (d *crashDisk) Remove(path string) error {
	return d.do(func() error { return d.OS.Remove(path) }, nil)
}

// Whatever step a process dies at, and whether or not its submission arrived,
// the same command afterwards leads to exactly one run.
func TestLaunchCrash(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := newAround(t)
		a.s.blind = true
		died := 0
		for range rapid.IntRange(1, 4).Draw(rt, "crashes") {
			disk := &crashDisk{at: rapid.IntRange(0, 16).Draw(rt, "step"), how: rapid.SampledFrom([]string{"before", "after", "half"}).Draw(rt, "how")}
			ctx, kill := context.WithCancel(t.Context())
			if rapid.Bool().Draw(rt, "dies while submitting") {
				// The submission takes effect and its answer meets nobody.
				a.s.lose = 1
				a.s.afterward = func() { disk.dead = true; kill() }
			}
			a.disk = disk
			if _, err := a.launcher().Launch(ctx, order()); err != nil {
				died++
			}
			kill()
			a.s.afterward, a.s.lose = nil, 0
			if len(a.s.runs) > 1 {
				rt.Fatalf("%d runs after a crash", len(a.s.runs))
			}
		}
		a.disk = flow.OS{}
		got, err := a.launcher().Launch(t.Context(), order())
		if err != nil {
			rt.Fatalf("after %d crashes the command fails: %v", died, err)
		}
		if len(a.s.runs) != 1 || got.Run.ID != a.s.runs[0].ID {
			rt.Fatalf("after %d crashes: %d runs, got %s", died, len(a.s.runs), got.Run.ID)
		}
	})
}
