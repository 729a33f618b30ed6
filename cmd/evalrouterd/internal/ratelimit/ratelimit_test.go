package ratelimit_test

import (
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	l := ratelimit.New(60)
	for i := range 60 {
		if wait := l.Take("a", now); wait != 0 {
			t.Fatalf("turn %d waits %s", i+1, wait)
		}
	}
	if wait := l.Take("a", now); wait != time.Second {
		t.Errorf("the turn after the last waits %s", wait)
	}
	if wait := l.Take("b", now); wait != 0 {
		t.Errorf("another name waits %s", wait)
	}
	if wait := l.Take("a", now.Add(time.Second)); wait != 0 {
		t.Errorf("a second later it waits %s", wait)
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, remote, want string
		ok                 bool
	}{
		{name: "IPv4", remote: "198.51.100.7:1", want: "198.51.100.7", ok: true},
		{name: "IPv4 in IPv6", remote: "[::ffff:198.51.100.7]:1", want: "198.51.100.7", ok: true},
		{name: "IPv6 counts by its network", remote: "[2001:db8:1:2:3:4:5:6]:1", want: "2001:db8:1:2::/64", ok: true},
		{name: "loopback", remote: "127.0.0.1:1"},
		{name: "no address", remote: "@"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := ratelimit.Network(tt.remote); got != tt.want || ok != tt.ok {
				t.Errorf("%q, %v", got, ok)
			}
		})
	}
}
