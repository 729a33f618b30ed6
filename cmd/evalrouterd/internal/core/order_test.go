package core_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

func TestOrder_IsAPermutation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		o := core.NewOrder(n, rapid.Uint32().Draw(t, "seed"))
		seen := make([]bool, n)
		for i := range n {
			p := o.At(i)
			if p < 0 || p >= n || seen[p] {
				t.Fatalf("place %d goes to %d", i, p)
			}
			seen[p] = true
		}
	})
}

// The order stands in every quote by name: these places may never change
// under that name.
func TestOrder_Golden(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		n    int
		seed uint32
		want string
	}{
		{name: "one task", n: 1, seed: 42, want: "[0]"},
		{name: "two tasks", n: 2, seed: 42, want: "[0 1]"},
		{name: "gsm8k", n: 1319, seed: 42, want: "[650 967 811 1313 248 619 314 242]"},
		{name: "another seed", n: 1319, seed: 7, want: "[1199 1242 111 173 459 277 1168 119]"},
		{name: "a million", n: 1_000_000, seed: 42, want: "[875549 684535 718652 132426 37415 336527 108924 388627]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := core.NewOrder(tt.n, tt.seed)
			var got []int
			for i := range min(tt.n, 8) {
				got = append(got, o.At(i))
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
}

// Each position is equally likely to be in a sample: a chi-square over many
// seeds stays near its degrees of freedom.
func TestOrder_SamplesAreUniform(t *testing.T) {
	t.Parallel()
	const n, k, seeds = 100, 10, 20_000
	count := make([]int, n)
	for seed := range uint32(seeds) {
		o := core.NewOrder(n, seed)
		for i := range k {
			count[o.At(i)]++
		}
	}
	want, chi := float64(k*seeds)/n, 0.0
	for _, c := range count {
		d := float64(c) - want
		chi += d * d / want
	}
	// 99 degrees of freedom, without replacement: mean 89, deviation under 15.
	if chi > 150 || chi < 45 {
		t.Errorf("chi-square %.1f over %d positions", chi, n)
	}
}
