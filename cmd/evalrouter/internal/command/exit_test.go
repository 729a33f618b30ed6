package command_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/profile"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

func answer(status int, code api.Code) error {
	return &evalrouter.Error{Problem: evalrouter.Problem{Code: code, Message: "as asked"}, Status: status}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	refused := func(c api.Code) error { return &flow.Error{Code: c, Message: "m"} }
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"EXT-01 success", nil, 0},
		{"nobody reads the output any more", fmt.Errorf("write: %w", syscall.EPIPE), 0},
		{"EXT-02 the network", answer(0, api.NetworkError), 1},
		{"EXT-02 a timeout", answer(0, api.RequestTimeout), 1},
		{"EXT-02 unauthenticated", answer(401, api.Unauthenticated), 1},
		{"EXT-02 no scope", answer(403, api.InsufficientScope), 1},
		{"EXT-02 not found", answer(404, api.NotFound), 1},
		{"EXT-02 too large", answer(413, api.RequestTooLarge), 1},
		{"EXT-02 too many requests", answer(429, api.RateLimited), 1},
		{"EXT-02 the service failed", answer(500, api.InternalError), 1},
		{"EXT-02 unavailable", answer(503, api.Unavailable), 1},
		{"EXT-05 a bad request", answer(400, api.InvalidRequest), 2},
		{"EXT-05 no credit", answer(402, api.InsufficientCredit), 2},
		{"EXT-05 a conflict", answer(409, api.QuoteAlreadyAccepted), 2},
		{"EXT-05 expired", answer(410, api.QuoteExpired), 2},
		{"EXT-05 unprocessable", answer(422, api.InvalidRequest), 2},
		{"EXT-05 an old client", answer(426, api.ClientOutdated), 2},
		{"EXT-04 a usage error", &argv.UsageError{Message: "m"}, 2},
		{"EXT-04 a column", &table.Error{What: "m"}, 2},
		{"EXT-04 a configuration", &profile.Error{Code: api.InvalidConfiguration}, 2},
		{"EXT-04 the client's configuration", answer(0, api.InvalidConfiguration), 2},
		{"EXT-04 an existing file", answer(0, api.DestinationExists), 2},
		{"EXT-04 a name", refused(api.BenchmarkUnknown), 2},
		{"EXT-04 an ambiguous id", refused(api.AmbiguousID), 2},
		{"EXT-06 nobody to ask", refused(api.UnattendedRefused), 2},
		{"a changed quote", refused(api.QuoteChanged), 2},
		{"a repeat", refused(api.RepeatNeedsNew), 2},
		{"an unwritable state", refused(api.StateUnwritable), 2},
		{"a corrupt state", refused(api.StateCorrupt), 2},
		{"EXT-09 a no", refused(api.ConfirmationDeclined), 5},
		{"EXT-09 a question left alone", fmt.Errorf("ask: %w", term.ErrDeclined), 5},
		{"EXT-10 the watch was lost", refused(api.WatchLost), 6},
		{"the person left the watch", refused(api.WaitCancelled), 1},
		{"the wait took too long", refused(api.RequestTimeout), 1},
		{"a lost answer", &flow.Error{Code: api.NetworkError, Err: answer(0, api.NetworkError)}, 1},
		{"the local service", &local.Error{Code: api.LocalServiceFailed}, 1},
		{"the local service refuses to start", &local.Error{Code: "master_key_missing", Refused: true}, 2},
		{"EXT-04 a connection's name", refused(api.ConnectionUnknown), 2},
		{"advice changes nothing", command.WithNext(answer(422, api.InvalidRequest), "x"), 2},
		{"anything else", errors.New("m"), 1},
		{"an interrupt", context.Canceled, 1},
		{"EXT-03 a failed run", command.EndOf(api.StatusFailed), 1},
		{"EXT-07 a partial run", command.EndOf(api.StatusPartial), 4},
		{"EXT-08 a cancelled run", command.EndOf(api.StatusCancelled), 4},
		{"a completed run", command.EndOf(api.StatusCompleted), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := command.ExitCode(tt.err); got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	zero := "0"
	uncertain := &evalrouter.Error{Problem: evalrouter.Problem{Code: api.NetworkError, Message: "no answer"}, Uncertain: true}
	keyed := &evalrouter.Error{Problem: evalrouter.Problem{Code: api.NetworkError, Message: "no answer"}, Uncertain: true, IdempotencyKey: "k"}
	tests := []struct {
		name    string
		err     error
		code    api.Code
		safe    bool
		charged *string
		key     string
	}{
		{"exit 2 charges nothing", answer(422, api.InvalidRequest), api.InvalidRequest, true, &zero, ""},
		{"a no charges nothing", term.ErrDeclined, api.ConfirmationDeclined, true, &zero, ""},
		{"an answer that got lost may not be repeated", uncertain, api.NetworkError, false, nil, ""},
		{"with a key it may", keyed, api.NetworkError, true, nil, "k"},
		{"the refusal decides, its cause explains", &flow.Error{Code: api.WatchLost, Message: "m", Err: uncertain}, api.WatchLost, false, nil, ""},
		{"an unknown error", errors.New("m"), api.InternalError, true, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := command.Explain(tt.err)
			if r.Code != tt.code || r.RetrySafe != tt.safe || (r.Charged == nil) != (tt.charged == nil) || r.IdempotencyKey != tt.key {
				t.Errorf("report %+v", r)
			}
		})
	}
}
