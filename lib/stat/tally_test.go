package stat_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/stat"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	got, err := stat.Compare([]float64{1, 0.5, 0.5, 0}, []float64{0, 0.5, 0.25, 1})
	if err != nil || got != (stat.Tally{Wins: 2, Ties: 1, Losses: 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := stat.Compare([]float64{1}, nil); !errors.Is(err, stat.Impossible) {
		t.Errorf("unequal lengths: %v", err)
	}
	if _, err := stat.Compare([]float64{math.NaN()}, []float64{1}); !errors.Is(err, stat.Impossible) {
		t.Errorf("not a number: %v", err)
	}
	if _, err := (stat.Tally{}).WinRate(); !errors.Is(err, stat.NoData) {
		t.Errorf("no task: %v", err)
	}
	if _, err := (stat.Tally{Wins: 3, Losses: -1}).WinRate(); !errors.Is(err, stat.Impossible) {
		t.Errorf("negative: %v", err)
	}
}

func TestWinRateIsTheMean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 30)
		tally := stat.Tally{Wins: count.Draw(t, "wins"), Ties: count.Draw(t, "ties"), Losses: count.Draw(t, "losses")}
		if tally.N() == 0 {
			tally.Ties = 1
		}
		var values []float64
		for value, n := range map[float64]int{1: tally.Wins, 0.5: tally.Ties, 0: tally.Losses} {
			for range n {
				values = append(values, value)
			}
		}
		want, err1 := stat.Mean(values)
		got, err2 := tally.WinRate()
		if err1 != nil || err2 != nil || !near(got.Mean, want.Mean) || got.N != want.N || got.Units != want.Units {
			t.Fatalf("%+v, %v, want %+v, %v", got, err2, want, err1)
		}
		se, err := got.StdErr()
		wantSE, wantErr := want.StdErr()
		if !errors.Is(err, wantErr) || !near(se, wantSE) {
			t.Fatalf("standard error %v, %v, want %v, %v", se, err, wantSE, wantErr)
		}
		other, err := stat.Tally{Wins: tally.Losses, Ties: tally.Ties, Losses: tally.Wins}.WinRate()
		if err != nil || !near(got.Mean+other.Mean, 1) {
			t.Fatalf("the two rates are %v and %v, %v", got.Mean, other.Mean, err)
		}
		sign, err1 := tally.SignTest()
		exact, err2 := stat.McNemar(tally.Wins, tally.Losses)
		if err1 != nil || err2 != nil || sign != exact {
			t.Fatalf("sign test %v, %v, McNemar %v, %v", sign, err1, exact, err2)
		}
	})
}
