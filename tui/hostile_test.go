package tui_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/signin"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
	"github.com/evalrouter/evalrouter/tui/internal/page/account"
	"github.com/evalrouter/evalrouter/tui/internal/page/catalog"
	"github.com/evalrouter/evalrouter/tui/internal/page/compare"
	"github.com/evalrouter/evalrouter/tui/internal/page/group"
	"github.com/evalrouter/evalrouter/tui/internal/page/history"
	"github.com/evalrouter/evalrouter/tui/internal/page/home"
	"github.com/evalrouter/evalrouter/tui/internal/page/launch"
	"github.com/evalrouter/evalrouter/tui/internal/page/live"
	"github.com/evalrouter/evalrouter/tui/internal/page/results"
	"github.com/evalrouter/evalrouter/tui/internal/page/review"
	signinpage "github.com/evalrouter/evalrouter/tui/internal/page/signin"
	"github.com/evalrouter/evalrouter/tui/internal/page/stop"
	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// corpus is text that attacks terminals.
func corpus() []string {
	long := make([]byte, 1<<12)
	for i := range long {
		long[i] = byte(i)
	}
	return []string{
		"\x1b]0;title\x07", "\x1b]52;c;cHduZWQ=\x07", "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\x1b[2J\x1b[H\x1b[31mred", "\x1b[6n\x1b[c", "\x1bP+q544e\x1b\\",
		"\x1b_apc\x1b\\", "\x1b^pm\x1b\\", "\x1b[?1049h\x1b[?1000h", "\x1bc", "a\x00b\x07c\x08d\x7fe", "\u009b31m\u009d0;t\u009c\u0090x\u009c", "\xc2", "\x80\x9b\x9d\xff\xfe",
		"\u202egnp.exe\u202c \u2066x\u2069 \u200f\u061c", "z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309", "\u200b\u200d\ufeff\u2060", "line\r\nline\rback\ttab\vvt\ffeed",
		"漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", "👨‍👩‍👧‍👦🇩🇪❤️", "\U000e0041\U000e007f", "\u2028\u2029", "\x0e\x0f", string(long),
		"▸[ forged ]◂", "ENTER TO CONFIRM", "%s%d%n", "", " ",
	}
}

// attacks are the texts of the corpus, a few at a time: what is shown is made
// safe whole and cut afterwards, so that each of them counts wherever it stands.
func attacks() (out []string) {
	for some := range slices.Chunk(corpus(), 4) {
		out = append(out, strings.Join(some, " "))
	}
	return out
}

// hostile answers everything with one text.
type hostile struct{ s string }

func (h hostile) Newer(context.Context) string { return h.s }

func (h hostile) Ledger(context.Context, int) ([]api.LedgerEntry, error) {
	return []api.LedgerEntry{{Kind: h.s, Note: h.s, RunID: &h.s}}, nil
}

func (h hostile) Whoami(context.Context) (api.WhoamiRecord, error) {
	return api.WhoamiRecord{
		Kind: h.s, Account: &api.AccountRecord{Email: h.s}, APIKey: &api.KeyView{Name: h.s, Prefix: h.s}, Scopes: []string{h.s},
		Workspace: &api.WorkspaceRecord{ID: h.s, Name: h.s, Slug: h.s, Role: h.s, Status: h.s, WebURL: h.s},
	}, nil
}

func (h hostile) Meta(context.Context) (api.MetaRecord, error) {
	return api.MetaRecord{Service: h.s, Version: h.s, WebOrigin: h.s}, nil
}

func (h hostile) bench() api.BenchmarkRecord {
	n := 40
	return api.BenchmarkRecord{
		ID: h.s, Slug: h.s, Version: h.s, Runner: h.s, Status: h.s, ManifestSHA256: h.s, Name: &h.s, Description: &h.s, Category: &h.s, CodeLicense: &h.s, DataLicense: &h.s,
		SourceRevision: &h.s, SourceURL: &h.s, SamplingAlgorithm: &h.s, TaskCount: &n, Metrics: []string{h.s}, RequiredCapabilities: []string{h.s}, OutputFormats: []string{h.s}, Family: h.s,
		QuoteAvailability: &api.BenchmarkQuoteAvailability{Status: api.ReadyForQuote, ReasonCode: &h.s, Message: &h.s},
	}
}

func (h hostile) route() api.ManagedRoute {
	return api.ManagedRoute{
		ID: h.s, ModelID: h.s, DisplayName: h.s, Provider: h.s, Status: h.s, PriceVersion: h.s, Capabilities: []string{h.s}, HostingProvider: &h.s, Description: &h.s,
		Limits: map[string]any{h.s: h.s}, Reasoning: &api.ReasoningControls{Mode: "efforts", Efforts: []string{h.s}, DefaultEffort: &h.s, Note: &h.s},
	}
}

func (h hostile) selection() api.ProfileSelection {
	return api.ProfileSelection{ID: h.s, ManifestSHA256: h.s, TaskIDsHash: h.s, PopulationCount: 40, SelectedCount: 25}
}

func (h hostile) model() api.Model {
	return api.Model{Selected: &api.SelectedModel{ModelID: h.s, DisplayName: h.s, RouteID: &h.s}}
}

func (h hostile) run(status api.RunStatus) api.RunRecord {
	return api.RunRecord{
		ID: "0a1b2c3d" + h.s, Name: h.s, Status: status, PlannedCount: 25, GradedCount: 5, ProcessedCount: 5, Model: h.model(), Profiles: []api.ProfileSelection{h.selection()},
		Outcomes: map[string]int{h.s: 5, "right": 2}, TerminalReason: &h.s, WaitingReason: &h.s, TerminalDetail: &h.s, Links: api.RunLinks{Live: &h.s, Report: &h.s},
		Headline: &api.Headline{Key: h.s, Name: h.s, Value: 0.4, Denominator: 5},
	}
}

func (h hostile) task() api.TaskRecord {
	return api.TaskRecord{TaskID: h.s, Status: h.s, Outcome: &h.s, ErrorCode: &h.s, Extracted: &h.s, OriginRunID: h.s, Reused: true, Scores: map[string]float64{h.s: 1}}
}

// Methods of the pages' readers.
func (h hostile) Benchmarks(context.Context, bool) iter.Seq2[api.BenchmarkRecord, error] {
	return func(yield func(api.BenchmarkRecord, error) bool) { yield(h.bench(), nil) }
}
func (h hostile) Models(context.Context, bool) iter.Seq2[api.ManagedRoute, error] {
	return func(yield func(api.ManagedRoute, error) bool) { yield(h.route(), nil) }
}
func (h hostile) Model(context.Context, string, bool) (api.ManagedRoute, error) {
	return h.route(), nil
}
func (h hostile) Compatible(context.Context, string) iter.Seq2[api.CompatibleRoute, error] {
	bad := api.CompatibleRoute{ManagedRoute: h.route(), Reasons: []api.Reason{{Code: h.s, Message: h.s}}}
	return func(yield func(api.CompatibleRoute, error) bool) {
		_ = yield(api.CompatibleRoute{ManagedRoute: h.route(), Compatible: true}, nil) && yield(bad, nil)
	}
}
func (h hostile) Runs(context.Context) ([]api.RunRecord, error) {
	return []api.RunRecord{h.run(api.StatusRunning), h.run(api.StatusFailed), h.run(api.RunStatus(h.s))}, nil
}
func (h hostile) Run(context.Context, string) (api.RunRecord, error) {
	return h.run(api.StatusPartial), nil
}
func (h hostile) Credits(context.Context) (api.CreditsRecord, error) {
	return api.CreditsRecord{}, errors.New(h.s)
}
func (h hostile) Result(context.Context, string) (api.ResultRecord, error) {
	sum := api.ResultSummary{Status: api.RunStatus(h.s), TerminalReason: &h.s, Outcomes: map[string]int{h.s: 3}}
	p := api.ProfileResult{
		ProfileID: h.s, Runner: h.s, UncertaintyNote: h.s, Selection: h.selection(), Graded: 5, HeadlineKey: &h.s, DataLicense: &h.s, SourceURL: &h.s, SourceRevision: &h.s,
		Metrics: []api.MetricRecord{{Key: h.s, Name: h.s, Value: 0.5}, {Key: "x", Name: h.s, Value: 7}},
	}
	return api.ResultRecord{RunID: h.s, Model: h.model(), Profiles: []api.ProfileResult{p}, Summary: sum, Warnings: []string{h.s}, TerminalDetail: &h.s}, nil
}
func (h hostile) Tasks(context.Context, string, string) (api.Page[api.TaskRecord], error) {
	return api.Page[api.TaskRecord]{Data: []api.TaskRecord{h.task()}}, nil
}
func (h hostile) Sample(context.Context, string, string) (api.ExportSample, error) {
	reply := "says " + h.s
	return api.ExportSample{Answer: &reply, FinishReason: &h.s, Grader: api.GraderRecord{ID: h.s, Version: h.s}, Judges: []api.JudgeReply{{RouteID: h.s, Status: h.s, Reply: &h.s}}}, nil
}
func (h hostile) Save(context.Context, string, string) (string, error) { return h.s, nil }
func (h hostile) Watch(_ context.Context, _ string, seen func(flow.Update)) (api.RunRecord, error) {
	seen(flow.Update{Run: h.run(api.StatusRunning), Down: time.Second, Cause: errors.New(h.s)})
	return api.RunRecord{}, &flow.Error{Code: api.Code(h.s), Message: h.s, Facts: []string{h.s}}
}
func (h hostile) Log(_ context.Context, _ string, _ int, seen func(api.RunEvent)) error {
	seen(api.RunEvent{Type: h.s, Data: map[string]any{h.s: h.s}})
	seen(api.RunEvent{Type: "task.graded", Data: map[string]any{"task_id": h.s, "outcome": h.s}})
	return errors.New(h.s)
}
func (h hostile) Launch(ctx context.Context, _ route.Draft, desk flow.Desk) (flow.Launched, error) {
	spend := 5 * usd.Dollar
	desk.Note(h.s)
	q := api.QuoteRecord{
		ID: h.s, MaxChargeMicrousd: &spend, ExpiresIn: 600, ExternalCharges: &h.s, Compatibility: api.Compatibility{Reasons: []api.Reason{{Message: h.s}}},
		Plan: api.QuotePlan{Model: h.model(), Profiles: []api.ProfileSelection{h.selection()}, Warnings: []string{h.s}}, Concurrency: api.QuoteConcurrency{Reasons: []string{h.s}},
		Reasoning: &api.ReasoningChoice{Mode: "effort", Effort: h.s},
	}
	if err := desk.Quoted(ctx, q); err != nil {
		return flow.Launched{}, err
	}
	_, err := desk.Approve(ctx, q, nil)
	return flow.Launched{}, err
}

func (h hostile) LaunchGroup(ctx context.Context, _ route.Draft, desk flow.GroupDesk) (flow.LaunchedGroup, error) {
	spend := 5 * usd.Dollar
	desk.Note(h.s)
	m := api.GroupQuoteMember{Model: *h.model().Selected, Reasoning: &api.ReasoningChoice{Mode: h.s}, ExternalCharges: &h.s, Warnings: []string{h.s}, IneligibleReason: &h.s, MaxChargeMicrousd: &spend}
	q := api.GroupQuoteRecord{ID: h.s, MaxChargeMicrousd: &spend, ExpiresIn: 600, Warnings: []string{h.s}, Profiles: []api.ProfileSelection{h.selection()}, Members: []api.GroupQuoteMember{m, m}}
	if err := desk.Quoted(ctx, q); err != nil {
		return flow.LaunchedGroup{}, err
	}
	_, err := desk.Approve(ctx, q, nil)
	return flow.LaunchedGroup{}, err
}

func (h hostile) Resume(ctx context.Context, _ route.Plan, desk flow.ResumeDesk) (flow.Launched, error) {
	spend := 5 * usd.Dollar
	if err := desk.Newest(ctx, h.s, h.run(api.RunStatus(h.s))); err != nil {
		return flow.Launched{}, err
	}
	plan := api.ContinuationPlan{
		SourceRunID: h.s, ChainRunIDs: []string{h.s, h.s}, LeftOut: api.ContinuationLeftOut{Cells: 1, Reasons: []api.LeftOutReason{{Code: h.s, Cells: 1}}},
		Pending: api.ContinuationPending{Cells: 1, Reasons: []api.PendingReason{{Code: h.s, Cells: 1}}},
	}
	q := api.QuoteRecord{ID: h.s, MaxChargeMicrousd: &spend, ExpiresIn: 600, Plan: api.QuotePlan{Model: h.model()}, Continuation: &plan}
	if err := desk.Quoted(ctx, q); err != nil {
		return flow.Launched{}, err
	}
	_, err := desk.Approve(ctx, q, false)
	return flow.Launched{}, err
}

func (h hostile) ResumeGroup(ctx context.Context, _ route.Plan, desk flow.GroupResumeDesk) (flow.LaunchedGroup, error) {
	spend := 5 * usd.Dollar
	if err := desk.Newest(ctx, h.s, h.group(api.RunStatus(h.s))); err != nil {
		return flow.LaunchedGroup{}, err
	}
	plan := api.ContinuationPlan{SourceRunID: h.s, LeftOut: api.ContinuationLeftOut{Cells: 1, Reasons: []api.LeftOutReason{{Code: h.s, Cells: 1}}}}
	on := api.GroupQuoteMember{Model: *h.model().Selected, Eligible: true, Continuation: &plan, SourceRunID: &h.s, MaxChargeMicrousd: &spend}
	aside := api.GroupQuoteMember{Model: *h.model().Selected, SourceRunID: &h.s, IneligibleReason: &h.s}
	q := api.GroupQuoteRecord{ID: h.s, MaxChargeMicrousd: &spend, ExpiresIn: 600, SourceGroupID: &h.s, Members: []api.GroupQuoteMember{on, aside}}
	if err := desk.Quoted(ctx, q); err != nil {
		return flow.LaunchedGroup{}, err
	}
	_, err := desk.Approve(ctx, q, false)
	return flow.LaunchedGroup{}, err
}

func (h hostile) group(status api.RunStatus) api.GroupRecord {
	m := api.GroupMember{
		RunID: "0a1b2c3d" + h.s, Model: *h.model().Selected, Status: api.RunStatus(h.s), TerminalReason: &h.s, Reasoning: &api.ReasoningChoice{Mode: h.s},
		Headline: &api.Headline{Key: h.s, Name: h.s, Value: 0.4, Denominator: 5},
	}
	return api.GroupRecord{
		ID: "0a1b2c3d" + h.s, Name: h.s, Status: status, Profiles: []api.ProfileSelection{h.selection()}, Members: []api.GroupMember{m, m}, Links: api.RunLinks{Live: &h.s, Report: &h.s},
		ContinuedByGroupID: &h.s,
	}
}

func (h hostile) Groups(context.Context) ([]api.GroupRecord, error) {
	return []api.GroupRecord{h.group(api.StatusRunning), h.group(api.RunStatus(h.s))}, nil
}
func (h hostile) Group(context.Context, string) (api.GroupRecord, error) {
	return h.group(api.StatusPartial), nil
}
func (h hostile) WatchGroup(_ context.Context, _ string, seen func(flow.Update, api.GroupRecord)) (api.GroupRecord, error) {
	g := h.group(api.StatusRunning)
	seen(flow.Update{Down: time.Second, Cause: errors.New(h.s)}, g)
	return g, &flow.Error{Code: api.Code(h.s), Message: h.s, Facts: []string{h.s}}
}
func (h hostile) Compare(context.Context, []string, string, bool) (api.Comparison, error) {
	v := 0.4
	x := api.ComparisonSeries{
		Label: h.s, RunIDs: []string{"0a1b2c3d" + h.s}, Status: h.s, Partial: true, PartialReasons: []string{h.s}, Model: api.ComparedModel{Name: h.s}, BillingState: h.s,
		Headline: api.ExportHeadline{Value: &v, Denominator: 5},
	}
	return api.Comparison{
		Benchmark: api.ExportIdentities{ProfileID: h.s}, Series: []api.ComparisonSeries{x, x}, Warnings: []api.ComparisonWarning{{Code: h.s, Series: []string{h.s}, Detail: h.s}},
		Statistics: &api.ComparedStatistics{Pairs: []api.ComparedPair{{First: h.s, Second: h.s, Method: h.s, Reason: h.s, Verdict: h.s}}},
	}, nil
}

// Where is a service.
func (h hostile) Where() string { return h.s }

// Overruled is what is used before a sign-in.
func (h hostile) Overruled() string { return h.s }

// Enter says everything that a sign-in can say.
func (h hostile) Enter(ctx context.Context, byCode bool, g signin.Guest) (signin.Entered, error) {
	out := signin.Entered{Account: signin.Account{BaseURL: h.s, Who: h.s, Workspace: h.s, Store: h.s}}
	g.Browse(h.s)
	if !byCode {
		return out, nil
	}
	g.Code(signin.Code{User: h.s, Address: h.s})
	g.Waits(signin.Waiting{Stage: "verify_email", Account: h.s})
	g.Setup(h.s)
	if _, err := g.Choose(ctx, []api.WorkspaceRecord{{ID: "1", Name: h.s, Role: h.s, Slug: h.s}, {ID: "2"}}); err != nil {
		return out, err
	}
	return out, errors.New(h.s)
}

// EnterKey says everything that a refused key can say.
func (h hostile) EnterKey(context.Context, string) (signin.Entered, error) {
	return signin.Entered{}, &flow.Error{Code: api.Code(h.s), Message: h.s, Facts: []string{h.s}}
}

func (h hostile) CancelRun(context.Context, string) (api.RunRecord, error) {
	return api.RunRecord{}, &flow.Error{Code: api.Code(h.s), Message: h.s, Facts: []string{h.s}}
}

func (h hostile) CancelGroup(context.Context, string) (api.GroupRecord, error) {
	return api.GroupRecord{}, &flow.Error{Code: api.Code(h.s), Message: h.s, Facts: []string{h.s}}
}

// places are all screens over one hostile service.
func (h hostile) places() map[string]func() (kit.Screen, []kit.Effect) {
	d := route.Draft{Benchmark: h.bench(), Cap: 5 * usd.Dollar, Picks: []route.Pick{{Name: h.s, Reasoning: &api.ReasoningChoice{Mode: h.s}}}}
	two := d
	two.Picks = append(two.Picks, two.Picks[0])
	g := h.group(api.StatusPartial)
	run, several := route.Continue{Run: h.run(api.StatusPartial)}, route.Continue{Group: &g}
	return map[string]func() (kit.Screen, []kit.Effect){
		"home":       func() (kit.Screen, []kit.Effect) { return home.New(h) },
		"benchmarks": func() (kit.Screen, []kit.Effect) { return catalog.Benchmarks(h, false) },
		"benchmark":  func() (kit.Screen, []kit.Effect) { return catalog.Benchmark(h.bench()) },
		"models":     func() (kit.Screen, []kit.Effect) { return catalog.Models(h) },
		"model":      func() (kit.Screen, []kit.Effect) { return catalog.Model(h, h.s) },
		"launch":     func() (kit.Screen, []kit.Effect) { return launch.Models(h, h.bench()) },
		"cover":      func() (kit.Screen, []kit.Effect) { return launch.Cover(d) },
		"review":     func() (kit.Screen, []kit.Effect) { return review.New(h, start, d) },
		"billing":    func() (kit.Screen, []kit.Effect) { return account.Billing(h) },
		"account":    func() (kit.Screen, []kit.Effect) { return account.Account(h, "") },
		"sign in":    func() (kit.Screen, []kit.Effect) { return signinpage.New(h, false) },
		"workspaces": func() (kit.Screen, []kit.Effect) { return signinpage.New(h, true) },
		"stop":       func() (kit.Screen, []kit.Effect) { return stop.New(h, start, route.Stop{Run: "0a1b2c3d" + h.s}) },
		"stop all":   func() (kit.Screen, []kit.Effect) { return stop.New(h, start, route.Stop{Group: "0a1b2c3d" + h.s}) },
		"key":        func() (kit.Screen, []kit.Effect) { return signinpage.Key(h) },
		"uploads":    func() (kit.Screen, []kit.Effect) { return account.Uploads(h) },
		"live":       func() (kit.Screen, []kit.Effect) { return live.New(h, "0a1b2c3d"+h.s) },
		"result":     func() (kit.Screen, []kit.Effect) { return results.Result(h, "0a1b2c3d"+h.s) },
		"samples":    func() (kit.Screen, []kit.Effect) { return results.Samples(h, "0a1b2c3d"+h.s) },
		"sample": func() (kit.Screen, []kit.Effect) {
			return results.Sample(h, route.Sample{Run: "0a1b2c3d", Among: []api.TaskRecord{h.task()}})
		},
		"history": func() (kit.Screen, []kit.Effect) { return history.New(h, route.History{}) },
		"mark":    func() (kit.Screen, []kit.Effect) { return history.New(h, route.History{Finished: true, Mark: true}) },
		"results": func() (kit.Screen, []kit.Effect) { return results.Choose() },
		"groups":  func() (kit.Screen, []kit.Effect) { return group.List(h, false) },
		"group":   func() (kit.Screen, []kit.Effect) { return group.Status(h, "0a1b2c3d"+h.s, false) },
		"watched": func() (kit.Screen, []kit.Effect) { return group.Status(h, "0a1b2c3d"+h.s, true) },
		"compare": func() (kit.Screen, []kit.Effect) {
			return compare.New(h, route.Compare{Runs: []string{"0a1b2c3d" + h.s}, Group: "0a1b2c3d" + h.s})
		},
		"cover of several":  func() (kit.Screen, []kit.Effect) { return launch.Cover(two) },
		"review of several": func() (kit.Screen, []kit.Effect) { return review.New(h, start, two) },
		"continue":          func() (kit.Screen, []kit.Effect) { return launch.Again(run) },
		"review of a resume": func() (kit.Screen, []kit.Effect) {
			return review.Resume(h, start, route.Plan{Continue: run, Cap: 5 * usd.Dollar})
		},
		"continue a group": func() (kit.Screen, []kit.Effect) { return launch.Again(several) },
		"review of a group's resume": func() (kit.Screen, []kit.Effect) {
			return review.Resume(h, start, route.Plan{Continue: several, Cap: 5 * usd.Dollar})
		},
	}
}

// Whatever text a service, a model or a file brings, the terminal is sent
// printable characters only. What is removed stays visible.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for i, s := range attacks() {
		for name, make := range (hostile{s}).places() {
			t.Run(fmt.Sprintf("%s-%d", name, i), func(t *testing.T) {
				t.Parallel()
				stack := &kit.Stack{Banner: plain.Line(s), Make: func(any) (kit.Screen, []kit.Effect) { return make() }}
				x := kittest.Start(t, 80, 24, kit.Colour, stack, kittest.NewClock(start()), nil)
				switch name {
				case "review", "review of several", "review of a resume", "review of a group's resume":
					x.Until("Enter another amount")
				case "workspaces":
					x.Until("Which one?")
				default:
					x.Rest()
				}
				allowed(t, x)
				x.Loop().Send(0, kit.Press{Key: kit.Enter, At: start()})
				x.Send(kit.Press{Key: kit.End, At: start()})
				if name == "compare" {
					x.Type("s")
				}
				allowed(t, x)
				x.Loop().Send(0, kit.Paste{Text: s})
				x.Send(kit.Resize{W: 140, H: 40})
				allowed(t, x)
			})
		}
	}
}

// allowed holds every byte on the terminal to the allow-list: printable
// characters, at most a few marks each, and nothing hidden or reordering.
func allowed(t *testing.T, x *kittest.Harness) {
	t.Helper()
	b := append(x.Bytes(), x.Frame()...)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 || r < 0x20 || r >= 0x7f && r < 0xa0 || plain.Hidden(r) || !unicode.IsGraphic(r) {
			t.Fatalf("%U (%q) is sent to the terminal", r, b[:min(len(b), 12)])
		}
		b = b[n:]
	}
}
