package command

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// timers are called by hand.
type timers struct {
	next  func()
	waits []time.Duration
}

func (x *timers) after(d time.Duration, f func()) func() bool {
	x.next, x.waits = f, append(x.waits, d)
	return func() bool { x.next = nil; return true }
}

type transport func() (*http.Response, error)

func (f transport) RoundTrip(*http.Request) (*http.Response, error) { return f() }

// C5: nothing is shown for a quick answer; a slow one shows the seconds and what
// is waited for, and takes the line away.
func TestPatience(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		ticks int
		quiet bool
		want  string
	}{
		{"a quick answer", 0, false, ""},
		{"two seconds", 1, false, "\rwaiting for eval.example, 2 s\x1b[K\r\x1b[K"},
		{"four seconds", 3, false, "\rwaiting for eval.example, 2 s\x1b[K\rwaiting for eval.example, 3 s\x1b[K\rwaiting for eval.example, 4 s\x1b[K\r\x1b[K"},
		{"something else has the line", 3, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			x := &timers{}
			p := &patient{show: &out, after: x.after, next: transport(func() (*http.Response, error) {
				for range tt.ticks {
					if x.next != nil {
						x.next()
					}
				}
				return nil, http.ErrHandlerTimeout
			})}
			p.Quiet(tt.quiet)
			_, err := p.RoundTrip(httptest.NewRequest("GET", "https://eval.example/v1/credits", nil))
			if err != http.ErrHandlerTimeout || out.String() != tt.want {
				t.Errorf("%v, shown %q, want %q", err, out.String(), tt.want)
			}
			if x.next != nil {
				t.Error("a timer is left")
			}
			for i, d := range x.waits {
				if want := map[bool]time.Duration{true: waitShown, false: waitTick}[i == 0]; d != want {
					t.Errorf("wait %d is %s", i, d)
				}
			}
			if strings.Count(out.String(), "\n") != 0 {
				t.Error("it takes a line of its own")
			}
		})
	}
}
