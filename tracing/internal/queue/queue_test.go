package queue_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
	"github.com/evalrouter/evalrouter/tracing/internal/outgoing"
	"github.com/evalrouter/evalrouter/tracing/internal/queue"
	"github.com/evalrouter/evalrouter/tracing/internal/spool"
)

// plain finishes nothing: what is late is left out.
type plain struct{}

func (plain) Finish(r outgoing.Record) []byte { return r.Span }

// flaky is a spool whose disk is full at times.
type flaky struct {
	*spool.Log
	full bool
}

func (f *flaky) Append(origin string, span []byte) error {
	if f.full {
		return spool.ErrFull
	}
	return f.Log.Append(origin, span)
}

func record(from, text string) outgoing.Record {
	return outgoing.Record{Origin: otlp.Origin{Scope: from}.Encode(), Span: []byte(text)}
}

func texts(b queue.Batch) (out []string) {
	for _, g := range b.Groups {
		for _, s := range g.Spans {
			out = append(out, string(s))
		}
	}
	return out
}

func adds(s queue.Stats) error {
	in, out := s.Started+s.Replayed, s.Open+s.Queued+s.Spooled+s.Exported+s.Rejected
	for _, n := range s.Lost {
		out += n
	}
	if in != out || s.Bytes < 0 {
		return fmt.Errorf("%d spans came and %d are accounted for: %+v", in, out, s)
	}
	return nil
}

// Whatever happens in whatever order: every span is in exactly one count, every
// span that was taken for delivery is read once and in order, and memory stays
// within its bound.
func TestQueue_EverySpanIsCounted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		const limit = 4000
		var disk *flaky
		q := queue.New(plain{}, nil, 0, limit)
		if rapid.Bool().Draw(rt, "spool") {
			dir, err := os.MkdirTemp(t.TempDir(), "")
			if err != nil {
				rt.Fatal(err)
			}
			log, _, err := spool.Open(dir, 1<<20)
			if err != nil {
				rt.Fatal(err)
			}
			defer log.Close()
			disk = &flaky{Log: log}
			q = queue.New(plain{}, disk, 0, limit)
		}
		var want []string // taken for delivery and not read
		open, n := 0, 0
		steps := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 60).Draw(rt, "steps")
		for _, step := range steps {
			before := q.Stats()
			switch {
			case step < 3:
				q.Start()
				open++
			case step < 6 && open > 0:
				open--
				n++
				text := fmt.Sprint(n) + strings.Repeat("x", rapid.SampledFrom([]int{0, 100, 700, 5000}).Draw(rt, "size"))
				q.End(record(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "from"), text), rapid.IntRange(0, 9).Draw(rt, "broken") > 0)
				if s := q.Stats(); s.Queued+s.Spooled > before.Queued+before.Spooled {
					want = append(want, text)
				}
			case step < 8:
				b, err := q.Take()
				if err != nil {
					rt.Fatal(err)
				}
				got := texts(b)
				if !slices.Equal(got, want[:len(got)]) || len(got) == 0 && len(want) > 0 || len(got) != b.Spans {
					rt.Fatalf("read %.60q, want %.60q", got, want)
				}
				want = want[len(got):]
				for left := b.Spans; left > 0; {
					exported := rapid.IntRange(0, left).Draw(rt, "exported")
					rejected := rapid.IntRange(0, left-exported).Draw(rt, "rejected")
					q.Settle(b, exported, rejected)
					left -= exported + rejected
					if err := adds(q.Stats()); err != nil {
						rt.Fatal(err)
					}
				}
				if err := q.Done(b); err != nil {
					rt.Fatal(err)
				}
			case step == 8 && disk != nil:
				disk.full = !disk.full
			case step == 9 && rapid.IntRange(0, 9).Draw(rt, "close") == 0:
				q.Close()
			}
			s := q.Stats()
			if err := adds(s); err != nil {
				rt.Fatal(err)
			}
			if s.Bytes > limit || s.Queued == 0 && s.Bytes != 0 || int(s.Open) != open {
				rt.Fatalf("%d bytes wait of %d; %d open of %d; %+v", s.Bytes, limit, s.Open, open, s)
			}
		}
		q.Close()
		spooled := q.Stats().Spooled
		q.Abandon()
		s := q.Stats()
		if err := adds(s); err != nil || s.Queued != 0 || s.Spooled != spooled || s.Bytes != 0 {
			rt.Fatalf("after the end: %v, %+v", err, s)
		}
	})
}

// A disk that is full for a while changes no order: what went to memory goes out
// before what goes to the disk afterwards.
func TestQueue_OrderAcrossAFullDisk(t *testing.T) {
	t.Parallel()
	log, _, err := spool.Open(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	disk := &flaky{Log: log}
	q := queue.New(plain{}, disk, 0, 1<<20)
	n := 0
	end := func() {
		n++
		q.Start()
		q.End(record("a", fmt.Sprint(n)), true)
	}
	end()
	disk.full = true
	end()
	disk.full = false
	end()
	var got []string
	for {
		b, err := q.Take()
		if err != nil {
			t.Fatal(err)
		}
		if b.Spans == 0 {
			break
		}
		got = append(got, texts(b)...)
		q.Settle(b, b.Spans, 0)
		if err := q.Done(b); err != nil {
			t.Fatal(err)
		}
	}
	end()
	if s := q.Stats(); !slices.Equal(got, []string{"1", "2", "3"}) || s.Spooled != 1 || s.Queued != 0 || s.SpoolErrors != 1 {
		t.Errorf("read %q, then %+v", got, s)
	}
}

// The counts add up at every moment that another goroutine sees.
func TestQueue_Concurrent(t *testing.T) {
	t.Parallel()
	q := queue.New(plain{}, nil, 0, 20_000)
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for i := range 500 {
				q.Start()
				q.End(record("a", fmt.Sprint(i)), true)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		b, err := q.Take()
		if err != nil {
			t.Fatal(err)
		}
		q.Settle(b, b.Spans, 0)
		if err := errors.Join(q.Done(b), adds(q.Stats())); err != nil {
			t.Fatal(err)
		}
	}
	if s := q.Stats(); s.Started != 2000 || s.Open != 0 || s.Exported+s.Queued+s.Lost[queue.Full] != 2000 {
		t.Errorf("%+v", s)
	}
}

// spanWith makes records with content, as spans do.
func spanWith(t *testing.T, m *outgoing.Maker, content string) outgoing.Record {
	t.Helper()
	s := tracetest.SpanStub{
		Name: "s", SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}),
		Attributes: []attribute.KeyValue{attribute.String("evalrouter.input", `"`+content+`"`)},
	}
	r, ok := m.Make(nil, s.Snapshot(), trace.SpanID{})
	if !ok {
		t.Fatal("the span was not written")
	}
	return r
}

// A burst with large inputs loses inputs before it loses spans.
func TestQueue_ContentGoesFirst(t *testing.T) {
	t.Parallel()
	m := outgoing.NewMaker(outgoing.Policy{})
	q := queue.New(m, nil, 0, 100_000)
	const spans = 200
	for range spans {
		q.Start()
		q.End(spanWith(t, m, strings.Repeat("word ", 800)), true)
	}
	s := q.Stats()
	if s.Queued != spans || s.ContentShed < spans/2 || s.ContentShed == spans {
		t.Errorf("of %d spans %d are queued, %d of them without content", spans, s.Queued, s.ContentShed)
	}
	b, err := q.Take()
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, text := range texts(b) {
		if strings.Contains(text, "word word") {
			whole++
		} else if !strings.Contains(text, "evalrouter.content_shed") {
			t.Fatalf("a span lost its content and does not say so: %q", text)
		}
	}
	if uint64(whole) != spans-s.ContentShed {
		t.Errorf("%d spans have content", whole)
	}
}

func TestQueue_Losses(t *testing.T) {
	t.Parallel()
	q := queue.New(plain{}, nil, 0, 500)
	for range 3 {
		q.Start()
	}
	q.End(record("a", "1"), true)
	q.End(record("a", strings.Repeat("x", 600)), true)
	q.End(outgoing.Record{}, false)
	b, err := q.Take()
	if err != nil {
		t.Fatal(err)
	}
	q.Settle(b, 0, 1)
	lost, rejected := q.Losses()
	if rejected != 1 || len(lost) != 2 || lost[queue.Full] != 1 || lost[queue.Unwritable] != 1 {
		t.Errorf("lost %v, rejected %d", lost, rejected)
	}
	if lost, rejected = q.Losses(); len(lost) != 0 || rejected != 0 {
		t.Errorf("reported twice: %v, %d", lost, rejected)
	}
}
