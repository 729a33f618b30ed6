package pass_test

import (
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

// TestPass: what was signed reads back for its life, in its place, and no byte of it
// can be another one.
func TestPass(t *testing.T) {
	t.Parallel()
	master, err := seal.LoadOrCreate(filepath.Join(t.TempDir(), "master.key"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := core.Micros(1_000_000)
	k := pass.Keeper{Master: master, Now: func() core.Micros { return now }}
	p := pass.Pass{Kind: pass.Run, ID: "r1", Workspace: "w", Maker: pass.Key, MakerID: "k1"}
	link, until := k.Link(p)
	stay := k.Stay(p)
	if until != now+pass.LinkLife {
		t.Errorf("the link ends at %d", until)
	}
	got, ok := k.ReadLink(link)
	if p.Until = until; !ok || got != p {
		t.Errorf("the link reads as %+v", got)
	}
	if _, ok := k.ReadStay(stay); !ok {
		t.Error("the stay is not read")
	}
	if _, ok := k.ReadStay(link); ok {
		t.Error("a link is taken for a stay")
	}
	if _, ok := k.ReadLink(stay); ok {
		t.Error("a stay is taken for a link")
	}
	for i := range link {
		for _, c := range "Aa0-_.\x00" {
			bad := link[:i] + string(c) + link[i+1:]
			if _, ok := k.ReadLink(bad); ok && bad != link {
				t.Fatalf("%q is read, which was %q", bad, link)
			}
		}
	}
	for name, bad := range map[string]string{"nothing": "", "no sum": strings.Split(link, ".")[0], "longer": link + "A", "much": strings.Repeat("A", 5000) + "." + "A"} {
		if _, ok := k.ReadLink(bad); ok {
			t.Errorf("%s is read", name)
		}
	}
	now = until
	if _, ok := k.ReadLink(link); ok {
		t.Error("the link outlives its time")
	}
	if _, ok := k.ReadStay(stay); !ok {
		t.Error("the stay ends with the link")
	}
	now += pass.StayLife
	if _, ok := k.ReadStay(stay); ok {
		t.Error("the stay outlives its time")
	}
}
