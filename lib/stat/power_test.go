package stat_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/stat"
)

func TestPlanTasksIsTheSmallest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := stat.Plan{
			Confidence:  rapid.SampledFrom([]float64{0.8, 0.95, 0.99, 1 - 0.05/3}).Draw(t, "confidence"),
			Power:       rapid.SampledFrom([]float64{0.5, 0.8, 0.9}).Draw(t, "power"),
			Discordance: rapid.Float64Range(0.01, 1).Draw(t, "discordance"),
		}
		gap := rapid.Float64Range(0.002, 1).Draw(t, "gap")
		n, err := p.Tasks(gap)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := p.Detectable(n); err != nil || d > gap {
			t.Fatalf("%d tasks show %v, %v, not %v", n, d, err, gap)
		}
		if d, err := p.Detectable(n - 1); err == nil && d <= gap {
			t.Fatalf("%d tasks already show %v, not only %d", n-1, d, n)
		}
		if more, err := p.Tasks(gap * 0.9); err != nil || more < n {
			t.Fatalf("a smaller gap needs %d tasks, %v, not %d", more, err, n)
		}
		strict := p
		strict.Confidence, strict.Power = 0.999, 0.95
		if more, err := strict.Tasks(gap); err != nil || more < n {
			t.Fatalf("a stricter test needs %d tasks, %v, not %d", more, err, n)
		}
	})
}

func TestPlanByHand(t *testing.T) {
	t.Parallel()
	// z² D / d² at even power: 1.96² · 0.25 / 0.1² = 96.04.
	n, err := stat.Plan{Confidence: 0.95, Power: 0.5, Discordance: 0.25}.Tasks(0.1)
	if err != nil || n != 97 {
		t.Errorf("got %d, %v, want 97", n, err)
	}
	d, ok := stat.Detectable(100)
	same, err := stat.Plan{Confidence: stat.PlanConfidence, Power: stat.PlanPower, Discordance: stat.PlanDiscordance}.Detectable(100)
	if !ok || err != nil || d != same {
		t.Errorf("the plan of Detectable gives %v, %v, not %v", same, err, d)
	}
	if n, err := (stat.Plan{Confidence: 0.95, Power: 0.8, Discordance: 0.25}).Tasks(1); err != nil || n != 4 {
		t.Errorf("one model always right, the other never: %d tasks, %v", n, err)
	}
}

func TestPlanRefusals(t *testing.T) {
	t.Parallel()
	good := stat.Plan{Confidence: 0.95, Power: 0.8, Discordance: 0.25}
	for _, p := range []stat.Plan{
		{}, {0, 0.8, 0.25}, {1, 0.8, 0.25}, {0.95, 0.4, 0.25}, {0.95, 1, 0.25}, {0.95, 0.8, 0}, {0.95, 0.8, 1.1}, {math.NaN(), 0.8, 0.25}, {0.95, 0.8, math.NaN()},
	} {
		if _, err := p.Tasks(0.1); !errors.Is(err, stat.Impossible) {
			t.Errorf("%+v: %v", p, err)
		}
		if _, err := p.Detectable(100); !errors.Is(err, stat.Impossible) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, gap := range []float64{0, -0.1, 1.1, 1e-9, math.NaN()} {
		if n, err := good.Tasks(gap); !errors.Is(err, stat.Impossible) {
			t.Errorf("gap %v: %d, %v", gap, n, err)
		}
	}
	for _, n := range []int{-1, 0, 3} {
		if d, err := good.Detectable(n); !errors.Is(err, stat.TooFew) {
			t.Errorf("%d tasks: %v, %v", n, d, err)
		}
	}
}
