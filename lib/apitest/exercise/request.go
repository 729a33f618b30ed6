package exercise

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/usd"
)

func (w *wire) newQuote() object {
	return object{
		"selection":           object{"profile_ids": []string{w.target.ProfileID}},
		"model":               object{"kind": "managed", "route_id": w.target.RouteID},
		"coverage":            object{"mode": "sample", "sample_count": w.target.Sample, "seed": 7},
		"max_charge_microusd": w.target.Cap.Wire(),
		"concurrency":         "auto",
	}
}

// bodies sends what must be refused, each for its own reason, and looks for
// the reason, the place and the absence of the value.
func (w *wire) bodies(t *testing.T) {
	good, err := json.Marshal(w.newQuote())
	if err != nil {
		t.Fatal(err)
	}
	const canary = "canary-7c1e"
	change := func(f func(o object)) string {
		o := w.newQuote()
		f(o)
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	tests := []struct{ name, body, path string }{
		{"unknown member", change(func(o object) { o["frobnicate"] = canary }), "frobnicate"},
		{"unknown member inside", change(func(o object) { o["model"].(object)["frobnicate"] = canary }), "frobnicate"},
		{"letter case", strings.Replace(string(good), `"max_charge_microusd"`, `"Max_Charge_Microusd"`, 1), "Max_Charge_Microusd"},
		{"money as a number", change(func(o object) { o["max_charge_microusd"] = 1_000_000 }), "max_charge_microusd"},
		{"money with a fraction", change(func(o object) { o["max_charge_microusd"] = "1.5" }), "max_charge_microusd"},
		{"negative money", change(func(o object) { o["max_charge_microusd"] = "-5" }), "max_charge_microusd"},
		{"zero money", change(func(o object) { o["max_charge_microusd"] = "0" }), "max_charge_microusd"},
		{"text for a number", change(func(o object) { o["coverage"].(object)["sample_count"] = canary }), "sample_count"},
		{"sample too large", change(func(o object) { o["coverage"].(object)["sample_count"] = 1001 }), "sample_count"},
		{"list for an object", change(func(o object) { o["model"] = []string{canary} }), "model"},
		{"unknown coverage", change(func(o object) { o["coverage"].(object)["mode"] = canary }), "mode"},
		{"selection of nothing", change(func(o object) { o["selection"] = object{} }), "selection"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := w.send(t, "POST", "/quotes", tt.body)
			a.lacks(t, canary)
			wantField(t, a, a.refused(t, 422, "invalid_request"), tt.path)
		})
	}
	t.Run("duplicate member", func(t *testing.T) {
		a := w.send(t, "POST", "/quotes", strings.Replace(string(good), "{", `{"max_charge_microusd":"1",`, 1))
		a.refusedAny(t, []int{400, 422}, "invalid_request")
	})
	for name, body := range map[string]string{"no JSON": "{", "two values": string(good) + "{}", "a list": "[]", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			w.send(t, "POST", "/quotes", body).refusedAny(t, []int{400, 422}, "invalid_request")
		})
	}
	t.Run("too large", func(t *testing.T) {
		w.send(t, "POST", "/quotes", `{"frobnicate":"`+strings.Repeat("x", 300<<10)+`"}`).refused(t, 413, "request_too_large")
	})
	t.Run("secret beside a misspelt member", func(t *testing.T) {
		a := w.send(t, "POST", "/connections", object{"name": "n", "base_url": "https://example.com/v1", "model_id": "m", "api_key": "sk-" + canary, "api_kye": "sk-" + canary})
		a.lacks(t, canary)
		wantField(t, a, a.refused(t, 422, "invalid_request"), "api_kye")
	})
	w.send(t, "POST", "/quotes", change(func(o object) { o["selection"] = object{"profile_ids": []string{"no-such@1"}} })).refusedAny(t, []int{404, 422}, "not_found")
}

// wantField demands details.fields with a path that ends in name and a code.
func wantField(t *testing.T, a *answer, details map[string]any, name string) {
	t.Helper()
	fields, _ := details["fields"].([]any)
	for _, f := range fields {
		f, _ := f.(map[string]any)
		path, _ := f["path"].(string)
		code, _ := f["code"].(string)
		if (path == name || strings.HasSuffix(path, "."+name)) && code != "" && len(f) == 2 {
			return
		}
	}
	t.Errorf("%s: details.fields has no entry {path, code} for %s: %.400s", a.name, name, a.body)
}

func (w *wire) quotes(t *testing.T) {
	before := len(w.runIDs(t))
	made := w.send(t, "POST", "/quotes", w.newQuote())
	made.record(t, "QuoteRecord")
	var q quoteView
	made.decode(t, &q)
	if q.Status != "open" || q.Preview || q.RunID != nil || q.Cap == nil || *q.Cap != w.target.Cap || q.Plan.Total != w.target.Sample {
		t.Errorf("the new quote reads %+v", q)
	}
	if strings.Contains(string(made.body), "estimated_charge") {
		t.Error("a quote must hold no forecast")
	}
	read := w.send(t, "GET", "/quotes/%s", nil, args(q.ID))
	read.record(t, "QuoteRecord")
	var again quoteView
	if read.decode(t, &again); again.ID != q.ID || again.Plan.Total != q.Plan.Total || *again.Cap != *q.Cap {
		t.Errorf("the quote reads %+v after %+v", again, q)
	}

	o := w.newQuote()
	delete(o, "max_charge_microusd")
	o["preview"] = true
	preview := w.send(t, "POST", "/quotes", o)
	preview.record(t, "QuoteRecord")
	var p quoteView
	if preview.decode(t, &p); !p.Preview || p.Cap != nil || p.Minimum == nil || *p.Minimum < 1 {
		t.Errorf("the preview reads %+v", p)
	}
	w.send(t, "GET", "/quotes/%s", nil, args(p.ID)).refused(t, 404, "not_found")
	w.send(t, "POST", "/runs", object{"quote_id": p.ID}, keyed(freshKey())).refused(t, 404, "not_found")

	if p.Minimum != nil && *p.Minimum > 1 {
		w.refusedCap(t, *p.Minimum-1, "cap_below_minimum")
	}
	w.refusedCap(t, w.limit(t)+1, "budget_limit")
	if after := len(w.runIDs(t)); after != before {
		t.Errorf("%d runs before quotes were made and %d after", before, after)
	}
}

type quoteView struct {
	ID      string     `json:"id"`
	Status  string     `json:"status"`
	Preview bool       `json:"preview"`
	RunID   *string    `json:"run_id"`
	Cap     *usd.Micro `json:"max_charge_microusd"`
	Minimum *usd.Micro `json:"minimum_cap_microusd"`
	Plan    struct {
		Total int `json:"total_tasks"`
	} `json:"plan"`
}

// refusedCap demands that a cap is refused when the quote is made or, at the
// latest, when its run is submitted.
func (w *wire) refusedCap(t *testing.T, limit usd.Micro, code string) {
	t.Helper()
	o := w.newQuote()
	o["max_charge_microusd"] = limit.Wire()
	a := w.send(t, "POST", "/quotes", o)
	if a.status == 200 {
		var q quoteView
		a.decode(t, &q)
		a = w.send(t, "POST", "/runs", object{"quote_id": q.ID}, keyed(freshKey()))
	}
	a.refused(t, 422, code)
}

// limit is the largest cap of one run.
func (w *wire) limit(t *testing.T) usd.Micro {
	t.Helper()
	m, err := w.client.Meta.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m.Limits.MaxChargeMicrousd
}

func (w *wire) runIDs(t *testing.T) []string {
	t.Helper()
	return w.ids(t, "/runs", 200)
}
