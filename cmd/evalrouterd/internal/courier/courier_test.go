package courier_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/courier"
)

func now() time.Time { return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) }

// server takes one mail on loopback and gives what it was told.
func server(t *testing.T, extensions ...string) (address string, heard <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out, done := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		out <- talk(c, extensions)
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), out
}

func talk(c net.Conn, extensions []string) string {
	var all strings.Builder
	in := bufio.NewReader(c)
	fmt.Fprint(c, "220 test\r\n")
	data := false
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return all.String()
		}
		all.WriteString(line)
		switch word := strings.ToUpper(strings.Fields(line + " x")[0]); {
		case data && line != ".\r\n":
		case data:
			data = false
			fmt.Fprint(c, "250 taken\r\n")
		case word == "EHLO":
			for _, e := range extensions {
				fmt.Fprintf(c, "250-%s\r\n", e)
			}
			fmt.Fprint(c, "250 SIZE\r\n")
		case word == "DATA":
			data = true
			fmt.Fprint(c, "354 go on\r\n")
		case word == "AUTH":
			fmt.Fprint(c, "535 no: "+line)
		case word == "QUIT":
			fmt.Fprint(c, "221 bye\r\n")
			return all.String()
		default:
			fmt.Fprint(c, "250 ok\r\n")
		}
	}
}

func open(t *testing.T, format string, args ...any) *courier.Courier {
	t.Helper()
	c, err := courier.Parse(fmt.Appendf(nil, format, args...), now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSend(t *testing.T) {
	t.Parallel()
	at, heard := server(t)
	c := open(t, `{"address":%q,"from":"Évaluation <no-reply@example.org>","user":"","password":""}`, at)
	if err := c.Send(context.Background(), "ada@example.org", "Your code", "One line\n.\nlast"); err != nil {
		t.Fatal(err)
	}
	got := <-heard
	for _, want := range []string{"MAIL FROM:<no-reply@example.org>", "RCPT TO:<ada@example.org>", "From: =?utf-8?q?=C3=89valuation?= <no-reply@example.org>\r\n",
		"To: <ada@example.org>\r\n", "Subject: Your code\r\n", "Date: Mon, 30 Nov 2026 09:00:00 +0000\r\n", "\r\n\r\nOne line\r\n..\r\nlast\r\n.\r\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the server did not hear %q in:\n%s", want, got)
		}
	}
	for _, bad := range []string{"a@example.org\r\nRCPT TO:<b@example.org>", "a@example.org\nx"} {
		if err := c.Send(context.Background(), bad, "s", "t"); err == nil {
			t.Errorf("mail to %q was sent", bad)
		}
	}
}

// What the server answers to a wrong password may hold it; nobody sees it.
func TestSend_HidesPassword(t *testing.T) {
	t.Parallel()
	at, _ := server(t, "AUTH PLAIN")
	c := open(t, `{"address":%q,"from":"a@example.org","user":"u","password":"canary-of-the-mail"}`, at)
	err := c.Send(context.Background(), "ada@example.org", "s", "t")
	if err == nil || !strings.Contains(err.Error(), "refused user and password") || strings.Contains(fmt.Sprint(err, c), "canary") || strings.Contains(err.Error(), "AHUAY2FuYXJ5") {
		t.Errorf("error %v, courier %v", err, c)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"not JSON", `canary`, "one JSON object"},
		{"an unknown field", `{"address":"h:25","from":"a@b.c","pass":"canary"}`, "one JSON object"},
		{"no port", `{"address":"canary","from":"a@b.c"}`, "host:port"},
		{"no sender", `{"address":"h:25","from":"canary"}`, "from is not"},
		{"a user without password", `{"address":"h:25","from":"a@b.c","user":"canary"}`, "belong together"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := courier.Parse([]byte(tt.in), now)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("Parse says %v", err)
			}
		})
	}
}
