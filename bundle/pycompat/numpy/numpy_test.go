package numpy_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/pycompat/internal/vector"
	"github.com/evalrouter/evalrouter/bundle/pycompat/numpy"
)

func TestVectors_Stats(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_numpy_stats", 9, checkStats)
}

func TestNumpy_Stats(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "py_numpy_stats", checkStats)
}

func checkStats(t *testing.T, c vector.Case) {
	xs := vector.Floats(t, c.Input["values"])
	before := slices.Clone(xs)
	for name, got := range map[string]float64{
		"mean": numpy.Mean(xs), "std1": numpy.Std(xs, 1), "var1": numpy.Var(xs, 1), "std0": numpy.Std(xs, 0),
		"q025": numpy.Quantile(xs, 0.025), "q5": numpy.Quantile(xs, 0.5), "q975": numpy.Quantile(xs, 0.975),
	} {
		want := math.NaN() // null: undefined for one value
		if v := c.Field(name); v != nil {
			want = vector.Float(t, v)
		}
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if !slices.Equal(xs, before) {
		t.Error("the values were changed")
	}
}

func TestVectors_Random(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_numpy_random", 4, checkRandom)
}

func TestNumpy_Random(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "py_numpy_random", checkRandom)
}

func checkRandom(t *testing.T, c vector.Case) {
	seed := uint32(vector.Ints(t, []any{c.Input["seed"]})[0])
	for name, v := range c.Expected.(map[string]any) {
		r := numpy.NewRandomState(seed)
		if name == "random_sample" || name == "choice_vals" {
			want := vector.Floats(t, v)
			got := make([]float64, len(want))
			for i := range got {
				if name == "random_sample" {
					got[i] = r.Sample()
				} else {
					got[i] = []float64{0, 1, 0.5}[r.Below(3)]
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
			continue
		}
		want := vector.Ints(t, v)
		var got []int
		kind, size, _ := strings.Cut(name, "_")
		size, _, _ = strings.Cut(size, "_")
		n, err := strconv.Atoi(size)
		if err != nil {
			t.Fatalf("unknown field %q", name)
		}
		switch kind {
		case "choice":
			got = make([]int, len(want))
			r.Choice(got, n)
		case "randint": // randint_0_1000
			for range want {
				got = append(got, r.Below(1000))
			}
		case "permutation":
			got = r.Permutation(n)
		case "shuffle":
			for i := range n {
				got = append(got, i)
			}
			r.Shuffle(n, func(i, j int) { got[i], got[j] = got[j], got[i] })
		default:
			t.Fatalf("unknown field %q", name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestArgMax(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	tests := []struct {
		name string
		xs   []float64
		want int
	}{
		{"first of equals", []float64{1, 3, 3}, 1},
		{"NaN wins", []float64{5, nan, 9, nan}, 1},
		{"NaN first", []float64{nan, 9}, 0},
		{"minus infinity only", []float64{math.Inf(-1), math.Inf(-1)}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := numpy.ArgMax(tt.xs); got != tt.want {
				t.Errorf("ArgMax(%v) = %d, want %d", tt.xs, got, tt.want)
			}
		})
	}
}

func TestSum_Signs(t *testing.T) {
	t.Parallel()
	if got := numpy.Sum([]float64{}); got != 0 || math.Signbit(got) {
		t.Errorf("Sum() = %v", got)
	}
	if got := numpy.Mean(nil); !math.IsNaN(got) {
		t.Errorf("Mean() = %v", got)
	}
}

func BenchmarkMean(b *testing.B) {
	xs := make([]float64, 10_000)
	for i := range xs {
		xs[i] = float64(i%7) / 7
	}
	b.SetBytes(int64(8 * len(xs)))
	for b.Loop() {
		numpy.Mean(xs)
	}
}
