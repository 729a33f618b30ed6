package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/evalrouter/evalrouter/tracing"
	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

func contains(b []byte, text string) bool { return bytes.Contains(b, []byte(text)) }

type custom struct{ n int }

// However a step ends, it is one span, and what the application sees is what it
// would see without capture.
func TestDo_Endings(t *testing.T) {
	t.Parallel()
	secret := &custom{7}
	panicking := func(context.Context, *tracing.Span) error { panic(secret) }
	tests := []struct {
		name, kind string
		run        func(ctx context.Context, c *tracing.TraceCapture)
	}{
		{"panic", "panic *tracing_test.custom", func(ctx context.Context, c *tracing.TraceCapture) {
			defer func() {
				if p := recover(); p != any(secret) {
					t.Errorf("the panic became %v", p)
				}
			}()
			_ = c.Agent(ctx, "a", panicking)
		}},
		{"panic of nil", "panic *runtime.PanicNilError", func(ctx context.Context, c *tracing.TraceCapture) {
			defer func() { _ = recover() }()
			_ = c.Agent(ctx, "a", func(context.Context, *tracing.Span) error { panic(nil) })
		}},
		{"panic with a deferred End", "panic *tracing_test.custom", func(ctx context.Context, c *tracing.TraceCapture) {
			defer func() {
				if p := recover(); p != any(secret) {
					t.Errorf("the panic became %v", p)
				}
			}()
			_, s := c.StartAgent(ctx, "a")
			defer s.End()
			panic(secret)
		}},
		{"goexit", "goexit", func(ctx context.Context, c *tracing.TraceCapture) {
			var wait sync.WaitGroup
			wait.Go(func() {
				_ = c.Agent(ctx, "a", func(context.Context, *tracing.Span) error { runtime.Goexit(); return nil })
			})
			wait.Wait()
		}},
		{"a cancelled context", "cancelled", func(ctx context.Context, c *tracing.TraceCapture) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_ = c.Agent(ctx, "a", func(ctx context.Context, _ *tracing.Span) error { return fmt.Errorf("ask: %w", ctx.Err()) })
		}},
		{"a timeout", "timeout", func(ctx context.Context, c *tracing.TraceCapture) {
			_ = c.Agent(ctx, "a", func(context.Context, *tracing.Span) error { return context.DeadlineExceeded })
		}},
		{"an error whose text panics", "*tracing_test.broken", func(ctx context.Context, c *tracing.TraceCapture) {
			_ = c.Agent(ctx, "a", func(context.Context, *tracing.Span) error { return &broken{} })
		}},
		{"ended twice", "", func(ctx context.Context, c *tracing.TraceCapture) {
			_, s := c.StartAgent(ctx, "a")
			s.End()
			s.Input("late")
			s.End()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := fakeotlp.New()
			c := open(t, settings(r))
			tt.run(t.Context(), c)
			flush(t, c)
			spans := r.Spans()
			if len(spans) != 1 || attr(spans[0].Span, "error.type") != tt.kind || attr(spans[0].Span, "evalrouter.input") != "" {
				t.Fatalf("captured %v", spans)
			}
			if failed := spans[0].Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR; failed != (tt.kind != "") {
				t.Errorf("status %v", spans[0].Status)
			}
			if s := c.Stats(); s.Started != 1 || s.Open != 0 || s.Exported != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

type broken struct{}

func (*broken) Error() string { panic("broken") }

func TestDo_Returns(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	failure := errors.New("x")
	for _, c := range []*tracing.TraceCapture{nil, open(t, settings(r))} {
		got, err := tracing.Do(t.Context(), c, tracing.Tool("t"), func(context.Context, *tracing.Span) (int, error) { return 7, failure })
		if got != 7 || err != failure { //nolint:errorlint // the very same error
			t.Errorf("got %d, %v", got, err)
		}
	}
}

// The span that explains a timeout is the open one.
func TestClose_TRC09_EndsWhatIsOpen(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	c := open(t, settings(r))
	ctx, run := c.StartAgent(t.Context(), "a")
	run.Input("question")
	_, call := c.StartModel(ctx, "openai", "gpt-x")
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := r.Spans()
	if len(spans) != 2 || attr(find(t, spans, "invoke_agent a").Span, "evalrouter.incomplete") != "bool_value:true" || attr(find(t, spans, "invoke_agent a").Span, "evalrouter.input") == "" {
		t.Fatalf("captured %v", spans)
	}
	call.End()
	run.End()
	_, late := c.StartTool(t.Context(), "late")
	late.Input("x")
	late.End()
	if err := errors.Join(c.Close(t.Context()), c.Flush(t.Context())); err != nil {
		t.Error(err)
	}
	if s := c.Stats(); s.Started != 2 || s.Exported != 2 || s.Open != 0 {
		t.Errorf("%+v", s)
	}
	balanced(t, c.Stats())
}

// Without an answer Close comes back at its deadline and says what is lost.
func TestClose_Deadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := settings(nil)
		cfg.Delivery.Transport = hanging{}
		lost := map[string]uint64{}
		cfg.OnLoss = func(reason string, n uint64) { lost[reason] += n }
		c, err := tracing.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, s := c.StartTool(t.Context(), "t")
			s.End()
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err = c.Close(ctx)
		var late *tracing.FlushError
		if !errors.As(err, &late) || late.Pending != 3 || late.Kept || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if s := c.Stats(); s.Dropped.Undelivered != 3 || s.Queued != 0 || lost["undelivered"] != 3 {
			t.Errorf("%+v, told %v", s, lost)
		}
		balanced(t, c.Stats())
		if again := c.Close(t.Context()); again != err { //nolint:errorlint // the very same error
			t.Errorf("the second time %v", again)
		}
	})
}

// A deadline that nobody set is 10 s.
func TestClose_NoDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := settings(nil)
		cfg.Delivery.Transport = hanging{}
		c, err := tracing.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		call(t.Context(), c)
		began := time.Now()
		flushed, closed := c.Flush(t.Context()), c.Close(t.Context())
		if flushed == nil || closed == nil || time.Since(began) != 20*time.Second {
			t.Errorf("after %v: %v, %v", time.Since(began), flushed, closed)
		}
	})
}

// One span and one capture in many goroutines.
func TestSpan_Concurrent(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	c := open(t, settings(r))
	ctx, run := c.StartAgent(t.Context(), "a")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			run.Input(i)
			run.Attr(fmt.Sprint("k", i), i)
			run.Usage(tracing.Usage{Input: int64(i)})
			err := c.Tool(ctx, "t", func(ctx context.Context, s *tracing.Span) error {
				s.Output(strings.Repeat("word ", i))
				return c.Flush(ctx)
			})
			if err != nil {
				t.Error(err)
			}
			if i == 10 {
				run.End()
			}
		})
	}
	all.Wait()
	flush(t, c)
	agent := find(t, r.Spans(), "invoke_agent a")
	for _, s := range r.Spans() {
		if s.Times != 1 || s.Name == "execute_tool t" && string(s.ParentSpanId) != string(agent.SpanId) {
			t.Errorf("%s came %d times, below %x", s.Name, s.Times, s.ParentSpanId)
		}
	}
	if len(r.Spans()) != 21 {
		t.Errorf("%d spans", len(r.Spans()))
	}
	balanced(t, c.Stats())
}

// hanging answers nothing.
type hanging struct{}

func (hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// A service that takes 50 ms a request, and 20,000 spans at once: nobody waits
// and nothing is lost.
func TestCapture_BurstIntoASlowService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := fakeotlp.New()
		cfg := settings(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			time.Sleep(50 * time.Millisecond)
			r.ServeHTTP(w, req)
		}))
		c, err := tracing.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		const spans = 20_000
		for range spans {
			call(t.Context(), c)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the application waited %v", waited)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s := c.Stats(); s.Exported != spans || s.Dropped.Total() != 0 || len(r.Spans()) != spans {
			t.Errorf("%d spans arrived: %+v", len(r.Spans()), s)
		}
	})
}

// More than fits is dropped, counted and told, and what fits arrives.
func TestCapture_Overflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := fakeotlp.New()
		r.Plan = func(n int) fakeotlp.Fault {
			if n < 3 {
				return fakeotlp.Fault{Status: 503}
			}
			return fakeotlp.Fault{}
		}
		cfg := settings(r)
		cfg.Delivery.QueueBytes = 50_000
		told := map[string]uint64{}
		cfg.OnLoss = func(reason string, n uint64) { told[reason] += n; panic("the application's own fault") }
		c, err := tracing.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			call(t.Context(), c)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s := c.Stats()
		if s.Dropped.QueueFull == 0 || s.Exported+s.Dropped.QueueFull != 1000 || told["queue_full"] != s.Dropped.QueueFull || int(s.Exported) != len(r.Spans()) {
			t.Errorf("%+v, told %v", s, told)
		}
		balanced(t, s)
	})
}

// An answer that was lost after the service stored the batch: the same spans
// come again and nothing else.
func TestCapture_LostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := fakeotlp.New()
		r.Plan = func(n int) fakeotlp.Fault { return fakeotlp.Fault{Status: 200 + 304*min(1, max(0, 1-n)), Stored: true} }
		c, err := tracing.New(settings(r))
		if err != nil {
			t.Fatal(err)
		}
		call(t.Context(), c)
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if spans := r.Spans(); len(spans) != 1 || spans[0].Times != 2 || c.Stats().Exported != 1 {
			t.Errorf("%v, %+v", spans, c.Stats())
		}
	})
}

// The key is in the header of requests and nowhere else.
func TestCapture_KeyStaysSecret(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	r.Key = "eri_verysecret"
	r.Plan = func(int) fakeotlp.Fault { return fakeotlp.Fault{Status: 401} }
	cfg := settings(r)
	cfg.Key = r.Key
	var log bytes.Buffer
	cfg.Logger = logTo(&log)
	cfg.Delivery.SpoolDir = t.TempDir()
	c := open(t, cfg)
	call(t.Context(), c)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err := c.Close(ctx)
	if err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error()+log.String()+c.Stats().Trouble, "verysecret") {
		t.Errorf("%v\n%s", err, log.String())
	}
	if !strings.Contains(log.String(), "check EVALROUTER_TRACE_KEY") {
		t.Errorf("the log does not say what to do:\n%s", log.String())
	}
}
