package datasets_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"b": 1.50, "a":[ null,true ,"<é>" ]}`, `{"a":[null,true,"<é>"],"b":1.50}`},
		{`12345678901234567890123`, `12345678901234567890123`},
		{`"x"`, `"x"`},
		{`{"a":1,"a":2}`, `{"a":2}`},
	} {
		if got, err := datasets.Canonical(json.RawMessage(c.in)); err != nil || string(got) != c.want {
			t.Errorf("%s became %s, %v", c.in, got, err)
		}
	}
	if _, err := datasets.Canonical(json.RawMessage(`{`)); err == nil {
		t.Error("half of JSON is canonical")
	}
}

// Canonical is a fixed point, and a part of an item cannot pass for another.
func TestDigests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		raw, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.Int())).Draw(rt, "value"))
		if err != nil {
			rt.Fatal(err)
		}
		once, err := datasets.Canonical(raw)
		if err != nil {
			rt.Fatal(err)
		}
		if twice, err := datasets.Canonical(once); err != nil || !bytes.Equal(once, twice) {
			rt.Fatalf("%s, then %s, %v", once, twice, err)
		}
		items := rapid.SliceOfN(rapid.StringMatching(`[0-9a-f]{8}`), 1, 6).Draw(rt, "digests")
		mixed := rapid.Permutation(items).Draw(rt, "mixed")
		if datasets.VersionDigest(items) != datasets.VersionDigest(mixed) {
			rt.Fatal("the order of items is in the digest")
		}
		if datasets.VersionDigest(items) == datasets.VersionDigest(append(mixed, "0")) {
			rt.Fatal("one item more has the same digest")
		}
	})
	moved := datasets.ItemDigest(core.ItemContent{Input: json.RawMessage(`1`), Expected: json.RawMessage(`2`)})
	for _, other := range []core.ItemContent{
		{Input: json.RawMessage(`12`)}, {Input: json.RawMessage(`1`), Metadata: json.RawMessage(`2`)}, {Input: json.RawMessage(`2`), Expected: json.RawMessage(`1`)},
	} {
		if datasets.ItemDigest(other) == moved {
			t.Errorf("%+v has the digest of another item", other)
		}
	}
	// Written down once: a digest that changes voids every version.
	if got := datasets.VersionDigest([]string{moved}); got != "b04e9a28e7881fbe7534b8d3378098618d584b88dbeca52a9886e446e5d6ffa8" {
		t.Error(got)
	}
}

func sealed(items ...core.SealedItem) iter.Seq2[core.SealedItem, error] {
	return func(yield func(core.SealedItem, error) bool) {
		for _, x := range items {
			if !yield(x, nil) {
				return
			}
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	var b bytes.Buffer
	err := datasets.Rows(&b, sealed(
		core.SealedItem{ID: "1", ItemContent: core.ItemContent{Input: raw(`"plain"`), Expected: raw(`"42"`)}},
		core.SealedItem{ID: "2", ItemContent: core.ItemContent{Input: raw(`[{"role":"system","content":"be brief"},{"role":"user","content":"why?"},{"role":"assistant","content":"hm"}]`), Expected: raw(`{"n":1}`)}},
		core.SealedItem{ID: "3", ItemContent: core.ItemContent{Input: raw(`{"city":"Rome","n":2}`)}},
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"expected":"42","id":"1","input":"plain","question":"plain"}`,
		`"expected_n":"1"`, `"question":"why?"`,
		`{"expected":"","id":"3","input":"{\"city\":\"Rome\",\"n\":2}","input_city":"Rome","input_n":"2","question":"{\"city\":\"Rome\",\"n\":2}"}`,
	}
	for _, w := range want {
		if !strings.Contains(b.String(), w) {
			t.Errorf("%s is not in\n%s", w, b.String())
		}
	}
}
