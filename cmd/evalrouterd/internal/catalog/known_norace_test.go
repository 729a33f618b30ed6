//go:build !race

package catalog_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"maps"
	"os"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

var update = flag.Bool("update", false, "write the golden files again")

// empty is a store without benchmarks, which keeps what is put into it.
type empty struct {
	catalog.Store
	put map[core.ProfileID]core.Profile
}

func (empty) Profile(context.Context, core.Scope, core.ProfileID) (core.Profile, error) {
	return core.Profile{}, core.Refuse(core.NotFound, "it is not there")
}

func (e empty) PutProfile(_ context.Context, _ string, p core.Profile, _ iter.Seq2[bundle.Task, error]) (bool, error) {
	e.put[p.ID] = p
	return true, nil
}

func (empty) Now() core.Micros { return 1 }

// The hashes that a service takes as known are those of the tasks that it makes,
// and a draw that is not known is hashed in the same way. The race detector would
// only watch one goroutine make tasks.
func TestKnownDraws(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{}
	e := empty{put: map[core.ProfileID]core.Profile{}}
	c := catalog.New(e, nil, func() string { return "id" })
	for _, b := range builtin.List() {
		for _, n := range []int{builtin.DefaultSize, 7} {
			p, err := c.Generate(context.Background(), b.Slug, builtin.DefaultSeed, n)
			if err != nil {
				t.Fatal(err)
			}
			all, ids := sha256.New(), sha256.New()
			tasks := b.Tasks(builtin.DefaultSeed, n)
			for pos := range tasks.Len() {
				task, err := tasks.Task(pos)
				if err != nil {
					t.Fatal(err)
				}
				doc, err := json.Marshal(task)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(all, "%s\n", doc)
				fmt.Fprintln(ids, task.ID)
			}
			population, taskIDs := hex.EncodeToString(all.Sum(nil)), hex.EncodeToString(ids.Sum(nil))
			if n == builtin.DefaultSize {
				want[p.ManifestSHA256] = map[string]string{"population_sha256": population, "task_ids_sha256": taskIDs}
			}
			if p.PopulationSHA256 != population || p.DatasetSHA256 != population || p.TaskIDsSHA256 != taskIDs || p.TaskCount != n || e.put[p.ID].PopulationSHA256 != population {
				t.Errorf("%s with %d tasks is %s and %s, want %s and %s", p.ID, p.TaskCount, p.PopulationSHA256, p.TaskIDsSHA256, population, taskIDs)
			}
		}
	}
	text, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("known.json")
	if err != nil {
		t.Fatal(err)
	}
	var was map[string]map[string]string
	if err := json.Unmarshal(got, &was); err != nil {
		t.Fatal(err)
	}
	for digest, hashes := range want {
		if old := was[digest]; old != nil && !maps.Equal(old, hashes) {
			t.Fatalf("tasks of %s have changed: their benchmark needs another version", digest)
		}
	}
	if *update {
		if err := os.WriteFile("known.json", append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(got) != string(text)+"\n" {
		t.Errorf("known.json is not what the built-in benchmarks are; write it with -update:\n%s", text)
	}
}
