package export_test

import (
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/export"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func TestHashesAndNames(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_hashes", func(t *testing.T, c vt.Case) {
		if _, ok := c.Input.Get("name"); ok {
			name := vt.Str(c.Input, "name")
			got := value.DictOf("model", export.ModelName(name), "task", export.TaskName(name))
			if !value.Equal(got, c.Expected) {
				t.Errorf("names of %q = %s, want %s", name, value.Repr(got), value.Repr(c.Expected))
			}
			return
		}
		doc, _ := c.Input.Get("doc")
		target, _ := c.Input.Get("target")
		h, err := export.HashSample(doc, vt.Str(c.Input, "prompt"), target)
		if err != nil {
			t.Fatal(err)
		}
		got := value.DictOf("doc_hash", h.Doc, "prompt_hash", h.Prompt, "target_hash", h.Target)
		if !value.Equal(got, c.Expected) {
			t.Errorf("hashes = %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestTaskHash_DependsOnOrder(t *testing.T) {
	t.Parallel()
	a, b := export.Hashes{Doc: "1", Prompt: "2", Target: "3"}, export.Hashes{Doc: "4", Prompt: "5", Target: "6"}
	if export.TaskHash([]export.Hashes{a, b}) == export.TaskHash([]export.Hashes{b, a}) {
		t.Error("two orders have one hash")
	}
}
