package run

import (
	"context"
	"errors"
	"net/http/httptest"
	"syscall"
	"testing"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
)

// reads answers reads from a script.
type reads struct {
	err   error
	calls int
}

func (r *reads) Get(context.Context, string) (api.RunRecord, error) {
	r.calls++
	return api.RunRecord{ID: "r"}, r.err
}

func refusedConnection(t *testing.T) error {
	t.Helper()
	closed := httptest.NewServer(nil)
	closed.Close()
	c, err := evalrouter.New(evalrouter.Config{BaseURL: closed.URL, AllowHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Runs.Get(t.Context(), "r")
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("a closed port answers %v", err)
	}
	return err
}

// A watcher starts the service on this machine again when it is gone, and only
// then.
func TestReaderRestartsTheLocalService(t *testing.T) {
	t.Parallel()
	gone := refusedConnection(t)
	broken := &local.Error{Code: api.LocalServiceFailed}
	refused := &local.Error{Code: api.DataDirUnwritable, Refused: true}
	tests := []struct {
		name     string
		err      error // of the first service
		local    bool
		failure  error // of the restart
		want     error
		restarts int
	}{
		{"gone", gone, true, nil, nil, 1},
		{"gone, of somebody else", gone, false, nil, gone, 0},
		{"gone, and not yet startable", gone, true, broken, gone, 1},
		{"gone, and refuses to start", gone, true, refused, refused, 1},
		{"another failure", api.Unauthenticated, true, nil, api.Unauthenticated, 0},
		{"none", nil, true, nil, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first, second, restarts := &reads{err: tt.err}, &reads{}, 0
			r := &reader{runs: first}
			if tt.local {
				r.restart = func(context.Context) (flow.RunReader, error) {
					restarts++
					return second, tt.failure
				}
			}
			if _, err := r.Get(t.Context(), "r"); !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) || restarts != tt.restarts {
				t.Fatalf("error %v after %d restarts, want %v after %d", err, restarts, tt.want, tt.restarts)
			}
			if tt.want == nil && tt.restarts == 1 {
				if _, err := r.Get(t.Context(), "r"); err != nil || second.calls != 2 || first.calls != 1 {
					t.Errorf("later reads go to the old service: %d and %d calls, %v", first.calls, second.calls, err)
				}
			}
		})
	}
}
