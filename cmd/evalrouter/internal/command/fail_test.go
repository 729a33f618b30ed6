package command_test

import (
	"bytes"
	"net"
	"strings"
	"testing"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// What a person reads of an error: the sentence, one code, what helps, and
// never the command that has just failed.
func TestFail(t *testing.T) {
	t.Parallel()
	fields := map[string]any{"fields": []any{
		map[string]any{"path": "coverage.sample_count", "code": "too_large"},
		map[string]any{"path": "model.route_id", "code": "required"},
	}}
	call := func(code api.Code, message string, details map[string]any) error {
		return &evalrouter.Error{Problem: evalrouter.Problem{Code: code, Message: message, Details: details}, Status: 422}
	}
	tests := []struct {
		name string
		err  error
		want []string
		not  []string
	}{
		{"the places of a bad request", call(api.InvalidRequest, "the request is not valid; details.fields says where. Nothing was done", fields),
			[]string{"error: the request is not valid. Nothing was done (invalid_request)", "  coverage.sample_count: too large", "  model.route_id: required"}, []string{"details.fields"}},
		{"a shape that is not known", call(api.InvalidRequest, "the request is not valid; details.fields says where", map[string]any{"fields": "x"}),
			[]string{"details.fields says where"}, nil},
		{"a refused key", call(api.Unauthenticated, "the key is not valid", nil), []string{"next: evalrouter options"}, nil},
		{"an unverified connection", call(api.ConnectionUnverified, "check it", nil), []string{"next: evalrouter connections list"}, nil},
		{"an unverified connection that is known", command.WithNext(call(api.ConnectionUnverified, "check it", nil), "evalrouter connections check 3f2a"),
			[]string{"next: evalrouter connections check 3f2a"}, []string{"connections list"}},
		{"a feature that is not there", call(api.FeatureUnavailable, "not here", nil), []string{"next: evalrouter catalog"}, nil},
		{"the service's own refusal to start", &local.Error{Code: api.DataDirInUse, Refused: true, Message: "the data directory is in use", Log: "/data/evalrouterd.log"},
			[]string{"error: the data directory is in use (data_dir_in_use)\n", "next: evalrouter local logs --data /data"}, []string{"local_service_failed"}},
		{"the network, with its cause", flowCause(t), []string{"cause: there is no host of that name", "next: evalrouter options"}, nil},
		{"advice from two places is not repeated", command.WithNext(command.WithNext(&flow.Error{Code: api.RunUnknown, Message: "m"}, "evalrouter status"), "evalrouter status"),
			[]string{"next: evalrouter status"}, []string{"    or: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var errs bytes.Buffer
			a := &command.App{Term: &term.Term{Err: &errs, Env: func(string) (string, bool) { return "", false }, Home: "/home/x"}}
			if err := a.Fail(tt.err); err != nil {
				t.Fatal(err)
			}
			for _, w := range tt.want {
				if !strings.Contains(errs.String(), w) {
					t.Errorf("no %q in:\n%s", w, &errs)
				}
			}
			for _, w := range tt.not {
				if strings.Contains(errs.String(), w) {
					t.Errorf("%q is in:\n%s", w, &errs)
				}
			}
		})
	}
}

// flowCause is a call that failed because its host does not exist.
func flowCause(t *testing.T) error {
	t.Helper()
	e := &evalrouter.Error{Problem: evalrouter.Problem{Code: api.NetworkError, Message: "the service at x cannot be reached"}}
	return wrapped{e, &net.DNSError{Err: "no such host", IsNotFound: true}}
}

// wrapped is an error with two causes, as the client's is.
type wrapped struct{ call, cause error }

func (w wrapped) Error() string   { return w.call.Error() }
func (w wrapped) Unwrap() []error { return []error{w.call, w.cause} }

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   usd.Micro
		want string
	}{
		{"nothing", 0, "$0.00"},
		{"hundreds", 999 * usd.Dollar, "$999.00"},
		{"thousands", 100_000 * usd.Dollar, "$100,000.00"},
		{"millions", 1_234_567*usd.Dollar + 890_000, "$1,234,567.89"},
		{"small", 316, "$0.000316"},
		{"a debt", -1_000 * usd.Dollar, "-$1,000.00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := command.Money(tt.in); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
