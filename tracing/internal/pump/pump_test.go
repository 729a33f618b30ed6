package pump_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/tracing/internal/deliver"
	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
	"github.com/evalrouter/evalrouter/tracing/internal/outgoing"
	"github.com/evalrouter/evalrouter/tracing/internal/pump"
	"github.com/evalrouter/evalrouter/tracing/internal/queue"
)

type plain struct{}

func (plain) Finish(r outgoing.Record) []byte { return r.Span }

// service answers the n-th request as planned, then takes everything.
type service struct {
	mu   sync.Mutex
	plan []deliver.Outcome
	take func([]string) deliver.Outcome // instead of the plan
	at   []time.Duration                // when requests came
	got  [][]string                     // what they held
	from time.Time
}

func (s *service) Send(ctx context.Context, groups []otlp.Group) deliver.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return deliver.Outcome{Fate: deliver.Later, Why: "ended"}
	}
	var spans []string
	for _, g := range groups {
		for _, b := range g.Spans {
			spans = append(spans, string(b))
		}
	}
	s.at, s.got = append(s.at, time.Since(s.from)), append(s.got, spans)
	if s.take != nil {
		return s.take(spans)
	}
	if n := len(s.got); n <= len(s.plan) {
		return s.plan[n-1]
	}
	return deliver.Outcome{Fate: deliver.Taken}
}

func (s *service) times() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at)
}

type world struct {
	service *service
	queue   *queue.Queue
	pump    *pump.Pump
	n       int
	said    []string
}

func start(plan ...deliver.Outcome) *world {
	w := &world{service: &service{plan: plan, from: time.Now()}, queue: queue.New(plain{}, nil, 0, 1<<20)}
	w.pump = pump.Start(w.queue, w.service, pump.Config{
		Interval: time.Second, Rand: func() float64 { return 1 },
		Lost:    func(reason string, n uint64) { w.said = append(w.said, fmt.Sprint(reason, " ", n)) },
		Trouble: func(why string, barred bool) { w.said = append(w.said, fmt.Sprint("trouble ", why, " ", barred)) },
	})
	return w
}

// end ends n spans.
func (w *world) end(n int) {
	for range n {
		w.n++
		w.queue.Start()
		w.queue.End(outgoing.Record{Origin: otlp.Origin{Scope: fmt.Sprint(w.n % 2)}.Encode(), Span: []byte(fmt.Sprint(w.n))}, true)
		w.pump.Kick(false)
	}
}

var later = deliver.Outcome{Fate: deliver.Later, Why: "busy"}

func in(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

func TestPump_WaitsForCompany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start()
		defer w.pump.Stop()
		w.end(1)
		time.Sleep(500 * time.Millisecond)
		w.end(2)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]time.Duration{time.Second}, w.service.at); diff != "" {
			t.Error(diff)
		}
		if s := w.queue.Stats(); s.Exported != 3 || s.Bytes != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A batch whose delivery fails is sent again as it was, until it is taken, and
// later spans come behind it.
func TestPump_KeepsItsBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(slices.Repeat([]deliver.Outcome{later}, 9)...)
		defer w.pump.Stop()
		w.end(2)
		time.Sleep(2 * time.Second)
		w.end(1)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		var gaps []time.Duration
		for i := 1; i < len(w.service.at); i++ {
			gaps = append(gaps, w.service.at[i]-w.service.at[i-1])
		}
		s := time.Second
		if diff := cmp.Diff([]time.Duration{s / 4, s / 2, s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}, gaps[:9]); diff != "" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
		want := append(slices.Repeat([][]string{{"1", "2"}}, 10), []string{"3"})
		if diff := cmp.Diff(want, w.service.got); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"trouble busy false", "trouble  false"}, w.said); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	})
}

// Losses are told while a service keeps us waiting.
func TestPump_LossesInALongWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(deliver.Outcome{Fate: deliver.Later, After: 5 * time.Minute, Why: "429"})
		w.end(1)
		time.Sleep(10 * time.Second)
		w.queue.Start()
		w.queue.End(outgoing.Record{}, false)
		time.Sleep(time.Minute)
		w.pump.Stop()
		if diff := cmp.Diff([]string{"trouble 429 false", "unwritable 1"}, w.said); diff != "" {
			t.Error(diff)
		}
		if len(w.service.at) != 1 {
			t.Errorf("requests at %v", w.service.at)
		}
	})
}

// However much comes meanwhile, a service that is down is not asked more often.
func TestPump_MuchWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(slices.Repeat([]deliver.Outcome{later}, 1000)...)
		defer w.pump.Stop()
		for range 600 {
			w.end(1)
			w.pump.Kick(true)
			time.Sleep(100 * time.Millisecond)
		}
		// After 0, 0.25, 0.75, 1.75, 3.75, 7.75, 15.75, 31.75 s.
		if n := len(w.service.times()); n != 8 {
			t.Errorf("%d requests in a minute", n)
		}
	})
}

// A service that says when is asked then and not before, whoever flushes.
func TestPump_RetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(deliver.Outcome{Fate: deliver.Later, After: 20 * time.Second})
		defer w.pump.Stop()
		w.end(1)
		for range 10 {
			ctx, cancel := in(time.Second)
			if pending, _ := w.pump.Flush(ctx); pending != 1 {
				t.Errorf("%d pending", pending)
			}
			cancel()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]time.Duration{0, 20 * time.Second}, w.service.at); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPump_TRC08_Flush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(later, later, later)
		defer w.pump.Stop()
		w.end(3)
		ctx, cancel := in(10 * time.Second)
		defer cancel()
		if pending, why := w.pump.Flush(ctx); pending != 0 || why != "" {
			t.Errorf("%d pending, %q", pending, why)
		}
		// It came at once, and did not wait as long as the pump does by itself.
		if at := w.service.times(); at[len(at)-1] > 500*time.Millisecond || at[0] != 0 {
			t.Errorf("requests at %v", at)
		}
	})
}

// A flush ends when its context does, says what is pending, and loses nothing.
func TestPump_FlushDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(slices.Repeat([]deliver.Outcome{later}, 1000)...)
		w.end(3)
		began := time.Now()
		ctx, cancel := in(2 * time.Second)
		defer cancel()
		pending, why := w.pump.Flush(ctx)
		if took := time.Since(began); took != 2*time.Second || pending != 3 || why != "busy" {
			t.Errorf("after %v: %d pending, %q", took, pending, why)
		}
		if n := len(w.service.times()); n > 21 {
			t.Errorf("%d requests in 2 s", n)
		}
		w.pump.Stop()
		if s := w.queue.Stats(); s.Queued != 3 {
			t.Errorf("%+v", s)
		}
	})
}

// A key that is not taken is not waited for.
func TestPump_Barred(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(deliver.Outcome{Fate: deliver.Barred, Why: "401"}, deliver.Outcome{Fate: deliver.Barred, Why: "401"})
		defer w.pump.Stop()
		w.end(1)
		began := time.Now()
		ctx, cancel := in(time.Hour)
		defer cancel()
		if pending, why := w.pump.Flush(ctx); pending != 1 || why != "401" || time.Since(began) != 0 {
			t.Errorf("after %v: %d pending, %q", time.Since(began), pending, why)
		}
		pending, _ := w.pump.Flush(ctx)
		if at := w.service.times(); pending != 1 || len(at) != 2 {
			t.Errorf("%d pending; a flush makes one attempt more: %v", pending, at)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if s := w.queue.Stats(); s.Exported != 1 {
			t.Errorf("the key is taken again, and %+v", s)
		}
	})
}

// A batch that is too large is halved, down to the span that is too large alone.
func TestPump_TooLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start()
		defer w.pump.Stop()
		w.service.take = func(spans []string) deliver.Outcome {
			if len(spans) > 3 || slices.Contains(spans, "5") {
				return deliver.Outcome{Fate: deliver.TooLarge, Why: "413"}
			}
			return deliver.Outcome{Fate: deliver.Taken}
		}
		w.end(10)
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := w.queue.Stats(); s.Exported != 9 || s.Rejected != 1 || s.Bytes != 0 {
			t.Errorf("%+v", s)
		}
		if diff := cmp.Diff([]string{"trouble 413 to a single span false", "rejected 1"}, w.said); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPump_Fates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		plan               deliver.Outcome
		exported, rejected uint64
		said               string
	}{
		{"partial success", deliver.Outcome{Rejected: 2, Why: "2 are bad"}, 1, 2, "trouble 2 are bad false|rejected 2"},
		{"more rejected than sent", deliver.Outcome{Rejected: 9, Why: "9"}, 0, 3, "trouble 9 false|rejected 3"},
		{"refused", deliver.Outcome{Fate: deliver.Refused, Why: "400"}, 0, 3, "trouble 400 false|rejected 3"},
		{"taken", deliver.Outcome{}, 3, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := start(tt.plan)
				defer w.pump.Stop()
				w.end(3)
				time.Sleep(time.Minute)
				synctest.Wait()
				if s := w.queue.Stats(); s.Exported != tt.exported || s.Rejected != tt.rejected || len(w.service.got) != 1 {
					t.Errorf("%d requests, %+v", len(w.service.got), s)
				}
				if got := strings.Join(w.said, "|"); got != tt.said {
					t.Errorf("said %q", got)
				}
			})
		})
	}
}

// Stopping ends a wait and a flush.
func TestPump_Stop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(slices.Repeat([]deliver.Outcome{later}, 100)...)
		w.end(1)
		time.Sleep(time.Minute)
		done := make(chan int)
		go func() {
			pending, _ := w.pump.Flush(context.Background())
			done <- pending
		}()
		synctest.Wait()
		w.pump.Stop()
		if pending := <-done; pending != 1 {
			t.Errorf("%d pending", pending)
		}
	})
}
