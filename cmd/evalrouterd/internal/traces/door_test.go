package traces_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
)

// shelf keeps what is written, each transaction when it is let through.
type shelf struct {
	began  chan struct{} // nil tells nobody
	let    chan error    // nil lets every transaction through
	mu     sync.Mutex
	rounds [][]string
}

func (*shelf) Pack([]core.Arrival) {}

func (s *shelf) Write(_ context.Context, arrivals []core.Arrival) ([]int, error) {
	if s.began != nil {
		s.began <- struct{}{}
	}
	if s.let != nil {
		if err := <-s.let; err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	refused := make([]int, len(arrivals))
	for i, a := range arrivals {
		if a.TraceID == "bad" {
			return nil, errors.New("this one cannot be written")
		}
		if a.TraceID == "full" {
			refused[i] = len(a.Spans)
		}
		ids = append(ids, a.TraceID)
	}
	s.rounds = append(s.rounds, ids)
	return refused, nil
}

func of(trace string, n int) []core.Arrival {
	return []core.Arrival{{TraceID: trace, Spans: make([]core.Span, n)}}
}

// What came while a transaction was under way goes into the next one together,
// and everybody learns their own fate after it.
func TestDoor_OneCommitForSeveral(t *testing.T) {
	t.Parallel()
	s := &shelf{let: make(chan error)}
	d := traces.NewDoor(s)
	var group sync.WaitGroup
	bring := func(trace string, refused int) {
		group.Add(1)
		go func() {
			defer group.Done()
			if n, err := d.Bring(context.Background(), of(trace, 2)); n != refused || err != nil {
				t.Errorf("%s: %d refused, %v", trace, n, err)
			}
		}()
	}
	bring("first", 0)
	s.let <- nil // it is being written: the writer has it alone
	for i := range 5 {
		bring(fmt.Sprint("t", i), 0)
	}
	bring("full", 2)
	closed := make(chan struct{})
	go func() {
		for {
			select {
			case s.let <- nil:
			case <-closed:
				return
			}
		}
	}()
	group.Wait()
	d.Close()
	close(closed)
	n := 0
	for _, r := range s.rounds {
		n += len(r)
	}
	if n != 7 || len(s.rounds[0]) != 1 {
		t.Errorf("%v", s.rounds)
	}
}

// One delivery that cannot be written costs no other.
func TestDoor_OneAtFaultCostsNoOther(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	d := traces.NewDoor(s)
	defer d.Close()
	var group sync.WaitGroup
	for i := range 40 {
		group.Add(1)
		go func() {
			defer group.Done()
			trace := fmt.Sprint("t", i)
			if i%7 == 0 {
				trace = "bad"
			}
			if _, err := d.Bring(context.Background(), of(trace, 1)); (err != nil) != (trace == "bad") {
				t.Errorf("%s: %v", trace, err)
			}
		}()
	}
	group.Wait()
}

// More than can be written is refused at once, for later; what is waiting stays.
func TestDoor_RefusesWhatItCannotHold(t *testing.T) {
	t.Parallel()
	s := &shelf{let: make(chan error), began: make(chan struct{}, 1)}
	d := traces.NewDoor(s)
	done := make(chan error, 1)
	go func() {
		_, err := d.Bring(context.Background(), of("big", 59_999))
		done <- err
	}()
	<-s.began // it is being written, and waits there
	if _, err := d.Bring(context.Background(), of("more", 2)); !errors.Is(err, &core.Refusal{Code: core.RateLimited}) {
		t.Errorf("more than can wait: %v", err)
	}
	s.let <- nil
	if err := <-done; err != nil {
		t.Error(err)
	}
	close(s.let)
	d.Close()
	if _, err := d.Bring(context.Background(), of("late", 1)); err == nil {
		t.Error("a closed door took something")
	}
}
