package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// memorySpool outlives the process, as a file does. It remembers every answer
// it was ever given.
type memorySpool struct {
	w    *world
	open []core.Response
	all  []core.Response
}

func (s *memorySpool) Keep(r core.Response) (func(), error) {
	s.open, s.all = append(s.open, r), append(s.all, r)
	s.w.point("answer kept")
	return func() {
		for i, o := range s.open {
			if o.Call == r.Call {
				s.open = append(s.open[:i:i], s.open[i+1:]...)
				return
			}
		}
	}, nil
}

func (s *memorySpool) Reset() error { s.open = nil; return nil }

func (s *memorySpool) left() []core.Response { return append([]core.Response(nil), s.open...) }

// place is where an answer is recorded.
type place struct {
	run   core.RunID
	judge bool
	idx   int
	part  int
}

// recorded is every recorded answer of the runs that answers were kept of.
func (s *memorySpool) recorded() (map[place][]byte, error) {
	out, read := map[place][]byte{}, map[core.RunID]bool{}
	for _, r := range s.all {
		if read[r.Run] {
			continue
		}
		read[r.Run] = true
		for _, judge := range []bool{false, true} {
			of := s.w.store.Parts
			if judge {
				of = s.w.store.Replies
			}
			replies, err := of(context.Background(), scope, r.Run, 0, math.MaxInt32)
			if err != nil {
				return nil, err
			}
			for _, p := range replies {
				if p.State == core.CallResponded || p.State == core.CallLate {
					out[place{r.Run, judge, p.Idx, p.Part}] = p.Raw
				}
			}
		}
	}
	return out, nil
}

// lost says whether an answer that was received is recorded nowhere: neither
// in the journal nor in the spool.
func (s *memorySpool) lost() error {
	open := map[core.CallID]bool{}
	for _, r := range s.open {
		open[r.Call] = true
	}
	recorded, err := s.recorded()
	if err != nil {
		return err
	}
	for _, r := range s.all {
		if raw, ok := recorded[place{r.Run, r.Judge, r.Idx, r.Part}]; !open[r.Call] && (!ok || !bytes.Equal(raw, r.Raw)) {
			return fmt.Errorf("the answer of call %s was received and is recorded nowhere", r.Call)
		}
	}
	return nil
}
