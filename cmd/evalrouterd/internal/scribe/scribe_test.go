package scribe_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/scribe"
)

// same fails unless got is what encoding/json writes for v.
func same(t interface {
	Helper()
	Fatal(...any)
}, got []byte, v any) {
	t.Helper()
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("before "+string(want), string(got)); d != "" {
		t.Fatal(d)
	}
}

var before = []byte("before ")

// Every field of a response is drawn, also one that is added later.
func TestResponse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.Make[core.Response]().Draw(rt, "response")
		same(rt, scribe.Response(before[:len(before):len(before)], r), r)
	})
}

func TestUsage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		u := rapid.Make[core.Usage]().Draw(rt, "usage")
		same(rt, scribe.Usage(before[:len(before):len(before)], u), u)
	})
}

// What ReadUsage reads is what encoding/json reads, of any text.
func TestReadUsage(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Errorf(string, ...any) }, doc string) {
		var want core.Usage
		wantErr := json.Unmarshal([]byte(doc), &want)
		got, err := scribe.ReadUsage(doc)
		if (err == nil) != (wantErr == nil) || !cmp.Equal(want, got) {
			t.Errorf("%q: %+v, %v; want %+v, %v", doc, got, err, want, wantErr)
		}
	}
	for _, doc := range []string{`{"input":1,"output":2}`, `{"input":0,"output":0}`, `{"input":01,"output":2}`, `{"input":1,"output":-2}`, `{"input":,"output":2}`, `{"input":1,"output":2}}`, `{"input":1,"output":2`,
		`{"input":999999999999999,"output":9999999999999999}`, `{"input":1.0,"output":2}`, `{"input":1e3,"output":2}`, `{"input": 1,"output":2}`, `{"input":1,"output":2,"reasoning":3}`, ``, `null`} {
		check(t, doc)
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, string(scribe.Usage(nil, rapid.Make[core.Usage]().Draw(rt, "usage"))))
		check(rt, rapid.StringMatching(`\{"input":[0-9]{0,17},"output":[0-9]{0,17}\}?`).Draw(rt, "text"))
	})
}

func TestObject(t *testing.T) {
	t.Parallel()
	values := rapid.OneOf(
		rapid.String().AsAny(), rapid.StringMatching(`[ -~]*`).AsAny(), rapid.Int().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil), rapid.Float64Range(-1e9, 1e9).AsAny(),
		rapid.SampledFrom([]float64{0, 1, math.Copysign(0, -1), 0.5}).AsAny(), rapid.MapOf(rapid.String(), rapid.Int()).AsAny(), rapid.SliceOf(rapid.String()).AsAny(),
	)
	rapid.Check(t, func(rt *rapid.T) {
		m := rapid.MapOfN(rapid.String(), values, 0, 20).Draw(rt, "object")
		got, err := scribe.Object(before[:len(before):len(before)], m)
		if err != nil {
			rt.Fatal(err)
		}
		same(rt, got, m)
	})
	if _, err := scribe.Object(nil, map[string]any{"score": math.NaN()}); err == nil {
		t.Error("a number that JSON cannot write was written")
	}
}
