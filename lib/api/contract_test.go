package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest/contract"
	"github.com/evalrouter/evalrouter/lib/usd"
)

var update = flag.Bool("update", false, "write the golden records again")

// records is the Go type of every record of the contract.
var records = map[string]any{
	"ContinuationPlan": api.ContinuationPlan{}, "ContinuationLeftOut": api.ContinuationLeftOut{}, "LeftOutReason": api.LeftOutReason{},
	"ContinuationPending": api.ContinuationPending{}, "PendingReason": api.PendingReason{}, "ContinuationRetry": api.ContinuationRetry{},
	"ContinuationCharges": api.ContinuationCharges{}, "ContinuationCompatibility": api.ContinuationCompatibility{}, "ContinuationStatus": api.ContinuationStatus{},
	"ChainRecord": api.ChainRecord{},
	"EvalRecord":  api.EvalRecord{}, "EvalPricing": api.EvalPricing{}, "BenchmarkDetail": api.BenchmarkDetail{},
	"BenchmarkRecord": api.BenchmarkRecord{}, "BenchmarkQuoteAvailability": api.BenchmarkQuoteAvailability{},
	"ManagedRoute": api.ManagedRoute{}, "CompatibleRoute": api.CompatibleRoute{}, "Reason": api.Reason{}, "Pricing": api.Pricing{},
	"LongContextPricing": api.LongContextPricing{}, "DiscoveryRecord": api.DiscoveryRecord{}, "DiscoveredServer": api.DiscoveredServer{}, "DiscoveredModel": api.DiscoveredModel{},
	"ReasoningControls": api.ReasoningControls{}, "ReasoningBudget": api.ReasoningBudget{}, "ReasoningChoice": api.ReasoningChoice{},
	"ExecutionOptions": api.ExecutionOptions{}, "EnvironmentFamily": api.EnvironmentFamily{}, "EnvironmentRecord": api.EnvironmentRecord{},
	"EnvironmentLimits": api.EnvironmentLimits{}, "EnvironmentRights": api.EnvironmentRights{},
	"ConnectionRecord": api.ConnectionRecord{}, "CheckResult": api.CheckResult{},
	"QuoteRecord": api.QuoteRecord{}, "QuoteConcurrency": api.QuoteConcurrency{}, "ProfileConcurrency": api.ProfileConcurrency{},
	"Compatibility": api.Compatibility{}, "QuotePlan": api.QuotePlan{}, "RetentionPolicy": api.RetentionPolicy{},
	"CoverageRecord": api.Coverage{}, "SelectedModel": api.SelectedModel{}, "ComparisonModel": api.ComparisonModel{},
	"ProfileSelection": api.ProfileSelection{}, "JudgeSelection": api.JudgeSelection{}, "SandboxPolicyView": api.SandboxPolicyView{},
	"RunRecord": api.RunRecord{}, "Headline": api.Headline{}, "RunLinks": api.RunLinks{}, "ResumeState": api.ResumeState{},
	"RunRetention": api.RunRetention{}, "RunReceipt": api.RunReceipt{}, "EventPage": api.EventPage{}, "RunEvent": api.RunEvent{},
	"TaskRecord": api.TaskRecord{}, "ResultRecord": api.ResultRecord{}, "ResultSummary": api.ResultSummary{},
	"CoverageCounts": api.CoverageCounts{}, "BillingSnapshot": api.BillingSnapshot{}, "ResultCosts": api.ResultCosts{},
	"ProfileCost": api.ProfileCost{}, "ProfileResult": api.ProfileResult{}, "MetricRecord": api.MetricRecord{},
	"Uncertainty": api.Uncertainty{}, "Interval": api.Interval{}, "BenchmarkNotice": api.BenchmarkNotice{}, "LicenseNotice": api.LicenseNotice{},
	"SandboxExecutionPage": api.SandboxExecutionPage{}, "SandboxExecutionSummary": api.SandboxExecutionSummary{},
	"SandboxExecutionRecord": api.SandboxExecutionRecord{}, "OKResponse": api.OKResponse{}, "HealthRecord": api.HealthRecord{},
	"CreditsRecord": api.CreditsRecord{}, "PracticeCredit": api.PracticeCredit{}, "LedgerEntry": api.LedgerEntry{},
	"WhoamiRecord": api.WhoamiRecord{}, "AccountRecord": api.AccountRecord{}, "KeyView": api.KeyView{}, "WorkspaceRecord": api.WorkspaceRecord{},
	"MetaRecord": api.MetaRecord{}, "MetaLimits": api.MetaLimits{}, "LatestClient": api.LatestClient{},
	"ExportSummary": api.ExportSummary{}, "Export": api.Export{}, "ExportIdentities": api.ExportIdentities{}, "GraderRecord": api.GraderRecord{},
	"ExportProfile": api.ExportProfile{}, "ExportHeadline": api.ExportHeadline{}, "ChainPosition": api.ChainPosition{},
	"GroupQuoteRecord": api.GroupQuoteRecord{}, "GroupQuoteMember": api.GroupQuoteMember{}, "GroupRecord": api.GroupRecord{}, "GroupMember": api.GroupMember{},
	"ExportPolicy": api.ExportPolicy{}, "ExportSample": api.ExportSample{}, "SampleUsage": api.SampleUsage{}, "JudgeReply": api.JudgeReply{},
}

func load(t *testing.T) *contract.Contract {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every record of the contract has a Go type with the same members, no more
// and no fewer, each of the same type and as absent or null as it may be.
func TestTypesMatchTheContract(t *testing.T) {
	t.Parallel()
	c := load(t)
	for name := range records {
		if _, ok := c.Records[name]; !ok {
			t.Errorf("%s has a Go type and is not in the contract", name)
		}
	}
	for _, name := range c.Order {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, ok := records[name]
			if !ok {
				t.Fatal("no Go type")
			}
			members := membersOf(reflect.TypeOf(v))
			for _, f := range c.Records[name].Fields {
				m, ok := members[f.Name]
				if !ok {
					t.Errorf("%s has no member %s", reflect.TypeOf(v), f.Name)
					continue
				}
				delete(members, f.Name)
				for _, problem := range compare(name, f, m) {
					t.Errorf("%s: %s", f.Name, problem)
				}
			}
			for extra := range members {
				t.Errorf("member %s is not in the contract", extra)
			}
		})
	}
}

type member struct {
	typ       reflect.Type
	omitempty bool
}

func membersOf(t reflect.Type) map[string]member {
	out := map[string]member{}
	for f := range t.Fields() {
		tag, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			for k, m := range membersOf(f.Type) {
				if _, own := out[k]; !own {
					out[k] = m
				}
			}
			continue
		}
		out[tag] = member{f.Type, rest == "omitempty"}
	}
	return out
}

// nilPrices are pointers in the records of this module and never null on the
// wire: a connection without declared rates has an object of unknown rates.
var nilPrices = []string{"ManagedRoute.pricing", "QuotePlan.pricing"}

func compare(record string, f contract.Field, m member) []string {
	var out []string
	if m.omitempty && !f.Optional {
		out = append(out, "omitempty, but it is always present")
	}
	typ, pointer := m.typ, m.typ.Kind() == reflect.Pointer
	if pointer {
		typ = typ.Elem()
	}
	nilable := pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map
	if f.Type.Nullable && !nilable {
		out = append(out, "cannot be null")
	}
	if pointer && !m.omitempty && !f.Type.Nullable && !slices.Contains(nilPrices, record+"."+f.Name) {
		out = append(out, "a nil pointer would be an unwanted null")
	}
	if want := f.Type; !sameType(want, typ) {
		out = append(out, fmt.Sprintf("%s is not %+v", typ, want))
	}
	return out
}

func sameType(want contract.Type, got reflect.Type) bool {
	if got.Kind() == reflect.Pointer {
		got = got.Elem()
	}
	switch {
	case len(want.Union) == 2:
		return got == reflect.TypeFor[api.Model]()
	case len(want.Union) == 1:
		if want.Union[0] == "Pricing" && got == reflect.TypeFor[map[string]any]() {
			return true
		}
		return got == reflect.TypeOf(records[want.Union[0]])
	case len(want.Enum) > 0:
		return got.Kind() == reflect.String
	case want.List != nil:
		return got.Kind() == reflect.Slice && sameType(*want.List, got.Elem())
	case want.Map != nil:
		return got.Kind() == reflect.Map && sameType(*want.Map, got.Elem())
	}
	switch want.Scalar {
	case "money", "signed":
		return got == reflect.TypeFor[usd.Micro]()
	case "ts":
		return got == reflect.TypeFor[time.Time]()
	case "dict":
		return got == reflect.TypeFor[map[string]any]()
	case "any":
		return got == reflect.TypeFor[api.Concurrency]()
	case "string":
		return got.Kind() == reflect.String
	case "bool":
		return got.Kind() == reflect.Bool
	case "number":
		return got.Kind() == reflect.Float64
	case "int":
		return got != reflect.TypeFor[usd.Micro]() && got.Kind() >= reflect.Int && got.Kind() <= reflect.Uint64
	}
	return false
}

// The golden records are the contract as examples: one with every member, one
// with nothing that may be absent and null wherever it is allowed. Both must
// survive Go types without a change, and must satisfy the contract as text.
func TestGoldenRecords(t *testing.T) {
	t.Parallel()
	c := load(t)
	for _, name := range c.Order {
		for _, kind := range []string{"full", "least"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				file := filepath.Join("testdata", "records", name+"."+kind+".json")
				if *update {
					writeGolden(t, file, example(c, name, kind == "full", 0))
				}
				golden, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, problem := range c.Check(name, golden) {
					t.Error(problem)
				}
				checkCompleteness(t, c.Records[name], golden, kind == "full")
				roundTrip(t, records[name], golden)
			})
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "records", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(c.Order); len(files) != want {
		t.Errorf("%d golden records, want %d", len(files), want)
	}
}

func checkCompleteness(t *testing.T, r contract.Record, golden []byte, full bool) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(golden, &got); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fields {
		v, present := got[f.Name]
		switch {
		case full && (!present || v == nil):
			t.Errorf("the full record has no %s", f.Name)
		case !full && present && f.Optional:
			t.Errorf("the least record has %s", f.Name)
		case !full && present && f.Type.Nullable && v != nil:
			t.Errorf("in the least record %s is not null", f.Name)
		}
	}
}

func roundTrip(t *testing.T, zero any, golden []byte) {
	t.Helper()
	v := reflect.New(reflect.TypeOf(zero))
	dec := json.NewDecoder(bytes.NewReader(golden))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v.Interface()); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(tree(t, golden), tree(t, again)); d != "" {
		t.Errorf("decoding and encoding changes the record (-golden +again):\n%s", d)
	}
}

func tree(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func writeGolden(t *testing.T, file string, v any) {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// example builds a record from the contract alone. Values count up, so that
// no two members can be mixed up unnoticed.
func example(c *contract.Contract, name string, full bool, depth int) map[string]any {
	out := map[string]any{}
	for i, f := range c.Records[name].Fields {
		if !full && f.Optional {
			continue
		}
		if !full && f.Type.Nullable {
			out[f.Name] = nil
			continue
		}
		out[f.Name] = exampleValue(c, f.Name, f.Type, full, i+10*depth+1)
	}
	return out
}

func exampleValue(c *contract.Contract, name string, t contract.Type, full bool, n int) any {
	switch {
	case len(t.Union) > 0:
		return example(c, t.Union[0], full, n)
	case len(t.Enum) > 0:
		return t.Enum[n%len(t.Enum)]
	case t.List != nil:
		if !full {
			return []any{}
		}
		return []any{exampleValue(c, name, *t.List, full, n)}
	case t.Map != nil:
		if !full {
			return map[string]any{}
		}
		return map[string]any{"a": exampleValue(c, name, *t.Map, full, n)}
	}
	switch t.Scalar {
	case "money":
		return fmt.Sprint(1_000_000 + n)
	case "signed":
		return fmt.Sprint(-1_000_000 - n)
	case "ts":
		return time.Date(2026, 1, 2, 3, 4, n%60, 0, time.UTC).Format(time.RFC3339)
	case "int":
		return n
	case "number":
		return 0.5 + float64(n)
	case "bool":
		return true
	case "dict":
		return map[string]any{"n": n}
	case "any":
		return n%100 + 1
	}
	return fmt.Sprintf("%s %d", name, n)
}
