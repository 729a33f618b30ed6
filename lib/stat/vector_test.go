package stat_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/evalrouter/evalrouter/lib/stat"
)

// vectors reads one file of shared golden cases, computed by the reference
// implementations. The folder is not part of the repository.
func vectors[T any](t *testing.T, name string, want int) []T {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "vectors")
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		t.Skip("the shared golden vectors are not beside the repository")
	}
	data, err := os.ReadFile(filepath.Join(dir, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var c T
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(cases) != want {
		t.Fatalf("%s holds %d cases, want %d", name, len(cases), want)
	}
	return cases
}

// relative holds got to 1e-12 of want, and to no more than that of scale
// where want is a difference of larger numbers.
func relative(got, want, scale float64) bool {
	return got == want || math.Abs(got-want) <= tolerance*math.Max(math.Abs(want), math.Abs(scale))
}

// score maps the values of Inspect's vectors to numbers as Inspect does.
func score(t *testing.T, raw json.RawMessage) float64 {
	t.Helper()
	switch string(raw) {
	case `"C"`, `"yes"`, `true`:
		return 1
	case `"P"`:
		return 0.5
	case `"I"`, `"N"`, `"no"`, `false`, `"abc"`:
		return 0
	}
	var f float64
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatalf("value %s: %v", raw, err)
	}
	return f
}

func scores(t *testing.T, raw []json.RawMessage) []float64 {
	t.Helper()
	out := make([]float64, len(raw))
	for i, r := range raw {
		out[i] = score(t, r)
	}
	return out
}

func TestTQuantileVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Case  string
		Input struct{ P, DF float64 }
		Want  float64 `json:"expected"`
	}
	for _, v := range vectors[vector](t, "inspect_t_quantile", 88) {
		got, err := stat.TQuantile(v.Input.P, v.Input.DF)
		if err != nil || !relative(got, v.Want, 0) {
			t.Errorf("%s: TQuantile(%v, %v) = %.17g, %v, want %.17g", v.Case, v.Input.P, v.Input.DF, got, err, v.Want)
		}
	}
}

// Inspect writes a zero-width interval where nothing is known. Here that is
// no interval, with the reason.
func TestIntervalVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Case   string
		Input  struct{ Values []json.RawMessage }
		Params struct{ Level float64 }
		Want   stat.Interval `json:"expected"`
	}
	figures := 0
	for _, v := range vectors[vector](t, "inspect_ci", 76) {
		e, err := stat.Mean(scores(t, v.Input.Values))
		var got stat.Interval
		if err == nil {
			got, err = e.Interval(v.Params.Level)
		}
		if checkInterval(t, v.Case, got, err, v.Want) {
			figures++
		}
	}
	if figures < 50 {
		t.Errorf("only %d vectors hold an interval", figures)
	}
}

func checkInterval(t *testing.T, name string, got stat.Interval, err error, want stat.Interval) (figure bool) {
	t.Helper()
	width := want.Upper - want.Lower
	if width == 0 {
		if err == nil {
			t.Errorf("%s: got %v where the reference knows nothing", name, got)
		}
		return false
	}
	if err != nil || !relative(got.Lower, want.Lower, width) || !relative(got.Upper, want.Upper, width) {
		t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
	}
	return true
}

func TestClusteredVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Case  string
		Input struct {
			Values   []json.RawMessage
			Clusters []json.RawMessage
		}
		Want struct {
			StdErr float64
			CI     stat.Interval
		} `json:"expected"`
	}
	figures := 0
	for _, v := range vectors[json.RawMessage](t, "inspect_stderr_clustered", 26) {
		if bytes.Contains(v, []byte("$raises")) {
			continue // a missing cluster: ours is typed, so it cannot be missing
		}
		var c vector
		if err := json.Unmarshal(v, &c); err != nil {
			t.Fatal(err)
		}
		clusters := make([]string, len(c.Input.Clusters))
		for i, name := range c.Input.Clusters {
			clusters[i] = string(name)
		}
		e, err := stat.Clustered(scores(t, c.Input.Values), clusters)
		if err != nil {
			if len(c.Input.Values) > 0 {
				t.Errorf("%s: %v", c.Case, err)
			}
			continue
		}
		iv, err := e.Interval(0.95)
		if !checkInterval(t, c.Case, iv, err, c.Want.CI) {
			continue
		}
		figures++
		if se, err := e.StdErr(); err != nil || !relative(se, c.Want.StdErr, 0) {
			t.Errorf("%s: standard error %.17g, %v, want %.17g", c.Case, se, err, c.Want.StdErr)
		}
	}
	if figures < 15 {
		t.Errorf("only %d vectors hold an interval", figures)
	}
}

func TestNumpyVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Case  string
		Input struct{ Values []float64 }
		Want  struct {
			Mean            float64
			Std1            *float64
			Q025, Q5, Q975  float64
			StatisticsExact float64 `json:"statistics_mean"`
		} `json:"expected"`
	}
	for _, v := range vectors[vector](t, "py_numpy_stats", 9) {
		e, err := stat.Mean(v.Input.Values)
		if err != nil || !relative(e.Mean, v.Want.Mean, 0) || !relative(e.Mean, v.Want.StatisticsExact, 0) {
			t.Errorf("%s: mean %.17g, %v, want %.17g", v.Case, e.Mean, err, v.Want.Mean)
		}
		se, err := e.StdErr()
		if v.Want.Std1 == nil || *v.Want.Std1 == 0 {
			if err == nil {
				t.Errorf("%s: standard error %v of values without spread", v.Case, se)
			}
		} else if want := *v.Want.Std1 / math.Sqrt(float64(len(v.Input.Values))); err != nil || !relative(se, want, 0) {
			t.Errorf("%s: standard error %.17g, %v, want %.17g", v.Case, se, err, want)
		}
		sorted := sortedCopy(v.Input.Values)
		for p, want := range map[float64]float64{0.025: v.Want.Q025, 0.5: v.Want.Q5, 0.975: v.Want.Q975} {
			if got, err := stat.Percentile(sorted, p); err != nil || !relative(got, want, 0) {
				t.Errorf("%s: percentile %v = %.17g, %v, want %.17g", v.Case, p, got, err, want)
			}
		}
	}
}

func TestPassAtVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Case   string
		Input  struct{ N, C int }
		Params struct{ K int }
		Want   float64 `json:"expected"`
	}
	for _, v := range vectors[vector](t, "hfevaluate_pass_at_k", 83) {
		got, err := stat.Attempts{Samples: v.Input.N, Right: v.Input.C}.PassAt(v.Params.K)
		if err != nil || !relative(got, v.Want, 0) {
			t.Errorf("%s: pass@%d of %+v = %.17g, %v, want %.17g", v.Case, v.Params.K, v.Input, got, err, v.Want)
		}
	}
}

// Inspect's reducers over 0 and 1; a list that is too short is NaN there and
// Undefined here.
func TestReducerVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Case   string
		Input  struct{ Values []json.RawMessage }
		Params struct {
			Reducer string
			K       int
			Value   *float64
		}
		Want json.RawMessage `json:"expected"`
	}
	checked := 0
	for _, raw := range vectors[json.RawMessage](t, "inspect_reducers", 390) {
		var v vector
		if err := json.Unmarshal(raw, &v); err != nil {
			continue // the parameters of other reducers
		}
		a, ok := attempts(v.Input.Values)
		if !ok || v.Params.Value != nil || (v.Params.Reducer != "pass_at" && v.Params.Reducer != "pass_k") {
			continue
		}
		checked++
		of := stat.Attempts.PassAt
		if v.Params.Reducer == "pass_k" {
			of = stat.Attempts.PassAll
		}
		got, err := of(a, v.Params.K)
		var want float64
		if json.Unmarshal(v.Want, &want) != nil {
			if err == nil {
				t.Errorf("%s: got %v, want none", v.Case, got)
			}
		} else if err != nil || !relative(got, want, 0) {
			t.Errorf("%s: got %.17g, %v, want %.17g", v.Case, got, err, want)
		}
	}
	if checked < 30 {
		t.Errorf("only %d vectors apply", checked)
	}
}

func attempts(values []json.RawMessage) (a stat.Attempts, ok bool) {
	for _, v := range values {
		switch string(v) {
		case `"C"`, "1", "true", "1.0":
			a.Right++
		case `"I"`, "0", "false", "0.0":
		default:
			return a, false
		}
		a.Samples++
	}
	return a, true
}
