package random_test

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/pycompat/internal/vector"
	"github.com/evalrouter/evalrouter/bundle/pycompat/random"
)

func TestVectors_Random(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_random", 9, func(t *testing.T, c vector.Case) {
		seed := int64(vector.Ints(t, []any{c.Input["seed"]})[0])
		for name, v := range c.Expected.(map[string]any) {
			checkField(t, random.New(seed), name, v.([]any))
		}
	})
}

func TestCPython_Random(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "random", func(t *testing.T, c vector.Case) {
		var r func() *random.Random
		switch seed := c.Input["seed"].(type) {
		case string:
			r = func() *random.Random { return random.NewString(seed) }
		case json.Number:
			n, ok := new(big.Int).SetString(seed.String(), 10)
			if !ok {
				t.Fatalf("bad seed %s", seed)
			}
			r = func() *random.Random { return random.NewBig(n) }
			if n.IsInt64() && random.New(n.Int64()).Bits(64) != r().Bits(64) {
				t.Error("New and NewBig differ")
			}
		}
		for name, v := range c.Expected.(map[string]any) {
			checkField(t, r(), name, v.([]any))
		}
	})
}

// checkField replays one field of a case: its name is the function and its
// arguments, such as sample_100_6.
func checkField(t *testing.T, r *random.Random, name string, want []any) {
	t.Helper()
	var args []int
	parts := strings.Split(name, "_")
	for _, p := range parts[1:] {
		if n, err := strconv.Atoi(strings.Replace(p, "m", "-", 1)); err == nil {
			args = append(args, n)
		}
	}
	var got any
	switch parts[0] {
	case "random", "uniform":
		fs := make([]float64, len(want))
		for i := range fs {
			if parts[0] == "random" {
				fs[i] = r.Random()
			} else {
				fs[i] = r.Uniform(-1, 3)
			}
		}
		got = fs
	case "getrandbits32", "getrandbits":
		checkBits(t, r, parts[0], want)
		return
	case "randrange":
		ns := make([]int, len(want))
		for i := range ns {
			if len(args) == 3 {
				ns[i] = r.Range(args[0], args[1], args[2])
			} else {
				ns[i] = r.Below(args[0])
			}
		}
		got = ns
	case "randint":
		ns := make([]int, len(want))
		for i := range ns {
			ns[i] = r.Int(args[0], args[1])
		}
		got = ns
	case "sample":
		got = r.Sample(args[0], args[1])
	case "shuffle":
		ns := make([]int, args[0])
		for i := range ns {
			ns[i] = i
		}
		r.Shuffle(len(ns), func(i, j int) { ns[i], ns[j] = ns[j], ns[i] })
		got = ns
	case "choices":
		got = r.Choices(args[0], args[1])
	case "choice":
		ns := make([]int, len(want))
		for i := range ns {
			ns[i] = r.Below(args[0])
		}
		got = ns
	default:
		t.Fatalf("unknown field %q", name)
	}
	var expected any
	if _, ok := got.([]float64); ok {
		expected = vector.Floats(t, want)
	} else {
		expected = vector.Ints(t, want)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("%s: -want +got\n%s", name, diff)
	}
}

// checkBits replays getrandbits: 32 bits each, or the widths of the vectors.
func checkBits(t *testing.T, r *random.Random, kind string, want []any) {
	t.Helper()
	widths := []int{1, 5, 31, 33, 64, 100}
	for i, v := range want {
		k := 32
		if kind == "getrandbits" {
			k = widths[i]
		}
		got := r.BigBits(k)
		if got.String() != v.(json.Number).String() {
			t.Errorf("getrandbits(%d), draw %d: %s, want %s", k, i, got, v)
		}
	}
}

func TestFillBelow_IsBelow(t *testing.T) {
	t.Parallel()
	for _, n := range []int32{1, 2, 3, 209, 5000, 1 << 30} {
		a, b := random.New(7), random.New(7)
		got := make([]int32, 500)
		a.FillBelow(got, n)
		for i, v := range got {
			if want := b.Below(int(n)); int(v) != want {
				t.Fatalf("n=%d: draw %d is %d, want %d", n, i, v, want)
			}
		}
		if a.Random() != b.Random() {
			t.Errorf("n=%d: the generators are at different places", n)
		}
	}
}

func BenchmarkFillBelow(b *testing.B) {
	r := random.New(42)
	dst := make([]int32, 5000)
	b.SetBytes(int64(len(dst)))
	for b.Loop() {
		r.FillBelow(dst, 5000)
	}
}
