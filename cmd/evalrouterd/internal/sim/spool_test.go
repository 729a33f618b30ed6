package sim_test

import (
	"bytes"
	"context"
	"fmt"

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

func (s *memorySpool) recorded(r core.Response) (bool, error) {
	if !r.Judge {
		_, ok, err := s.w.store.Evidence(context.Background(), r.Run, r.Idx)
		return ok, err
	}
	replies, err := s.w.store.Replies(context.Background(), scope, r.Run, r.Idx, r.Idx+1)
	for _, p := range replies {
		if p.State == core.CallResponded && bytes.Equal(p.Raw, r.Raw) {
			return true, err
		}
	}
	return false, err
}

// lost says whether an answer that was received is recorded nowhere: neither
// in the journal nor in the spool.
func (s *memorySpool) lost() error {
	open := map[core.CallID]bool{}
	for _, r := range s.open {
		open[r.Call] = true
	}
	for _, r := range s.all {
		if open[r.Call] {
			continue
		}
		ok, err := s.recorded(r)
		if err != nil || !ok {
			return fmt.Errorf("the answer of call %s was received and is recorded nowhere (%v)", r.Call, err)
		}
	}
	return nil
}
