package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// atoms are what text from elsewhere may try on a terminal.
func atoms() []string {
	return []string{
		"\x1b[31m", "\x1b[2J", "\x1b[H", "\x1b[?1049h", "\x1b[6n", "\x1b]0;title\x07", "\x1b]8;;https://attacker.example\x1b\\", "\x1b]52;c;Y2FyZA==\x07",
		"\x1bP+q544e\x1b\\", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\", "\x1bX sos\x1b\\", "\x1bc", "\x1b(0", "\x1b", "\x9b31m", "\u009b31m", "\u009d0;t\u009c", "\u0090q\u009c", "\u0085",
		"\r", "\n", "\r\n", "\t", "\v", "\f", "\b\b\b", "\a", "\x00", "\x7f", "\x0e", "\x0f",
		"\u202e", "\u202d", "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u2028", "\u2029", "\u00ad", "\u3164",
		"\U000e0041\U000e007f", "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "\ufffd", "%s%n%d", "$(reboot)", "`id`", "'; rm -rf ~; '", "next: evalrouter cancel", "error: all is lost",
		"名前", "👩‍👩‍👧", "plain words", strings.Repeat("x", 300), " ", "",
	}
}

func hostileStrings(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	all := atoms()
	out := append([]string{}, all...)
	for len(out) < n {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(all[r.IntN(len(all))])
			if r.IntN(3) == 0 {
				b.WriteString("word")
			}
		}
		out = append(out, b.String())
	}
	return out
}

// spoiled passes answers on with the texts that people see replaced.
type spoiled struct {
	target *url.URL
	proxy  *httputil.ReverseProxy
	texts  atomic.Pointer[map[string]string]
	edit   atomic.Pointer[func(path string, body []byte) []byte]
}

func newSpoiled(t *testing.T, to string) (*spoiled, string) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	s := &spoiled{target: target}
	s.texts.Store(&map[string]string{})
	s.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(res *http.Response) error {
			body, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			for from, to := range *s.texts.Load() {
				quoted, err := json.Marshal(to)
				if err != nil {
					return err
				}
				body = bytes.ReplaceAll(body, []byte(from), quoted[1:len(quoted)-1])
			}
			if edit := s.edit.Load(); edit != nil {
				body = (*edit)(res.Request.URL.Path, body)
			}
			res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			res.Header.Set("Content-Length", fmt.Sprint(len(body)))
			res.Header.Del("X-Content-Sha256")
			return nil
		},
	}
	srv := httptest.NewServer(s.proxy)
	t.Cleanup(srv.Close)
	return s, srv.URL
}

// spoilable are the texts of the fake that reach a page.
func spoilable() []string {
	return []string{
		"Arithmetic word problems", "One number answers each problem.", "Date arithmetic", "Five-option logic", "Practice solver 80 %", "Practice echo", "Model X", "acme/model-x",
		"reasoning", "Evaluation", "Accuracy", "CC0-1.0", "my connection", "https://models.example/v1", "there is no such", "inspect", "MIT", "rotation-1", "run.queued", "graded",
	}
}

// attendedApp is a process in front of a terminal with colour, over buffers.
func attendedApp(home, base, token string, env map[string]string) (*command.App, *bytes.Buffer, *bytes.Buffer) {
	var out, errs bytes.Buffer
	vars := map[string]string{"EVALROUTER_API_KEY": token, "TERM": "xterm", "EVALROUTER_BASE_URL": base, "EVALROUTER_READ_CACHE": "off"}
	for k, v := range env {
		vars[k] = v
	}
	return &command.App{
		Version: "0.0.0-test", Now: time.Now, Sleep: func(context.Context, time.Duration) error { return nil }, Chance: func() float64 { return 0.5 }, Began: time.Now(),
		FindBinary: func(string) (string, error) { return "", http.ErrNotSupported }, Start: func(string, ...string) error { return nil },
		Environ: func() []string { return nil },
		Term: &term.Term{
			In: strings.NewReader(""), Out: &out, Err: &errs, OutTTY: true, ErrTTY: true, InTTY: true, Columns: func() int { return 80 }, Home: home, Dir: home,
			Env: func(n string) (string, bool) { v, ok := vars[n]; return v, ok },
		},
	}, &out, &errs
}

// Two thousand hostile strings, as names, descriptions, errors and addresses,
// through the text of every command: only our own styles reach the terminal,
// and nothing is hidden or reordered.
func TestHostileText_S11(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{TaskTime: time.Nanosecond, Credits: 10000 * usd.Dollar})
	t.Cleanup(f.Close)
	s, base := newSpoiled(t, f.URL)
	home := t.TempDir()
	run := func(args ...string) string {
		app, out, errs := attendedApp(home, base, f.Token, nil)
		command.Execute(t.Context(), app, tree(app), append([]string{"--allow-http"}, args...))
		return out.String() + errs.String()
	}
	for range 2 {
		run("run", "arithmetic", "--model", "practice.solver-80", "--sample", "3", "--max-cost", "1", "--yes", "--new")
	}
	run("connections", "create", "--name", "my connection", "--endpoint", "https://models.example/v1", "--model", "acme/model-x", "--no-key")
	lines := [][]string{
		{"catalog"}, {"catalog", "--wide"}, {"catalog", "--models", "--wide"}, {"catalog", "--slug", "arithmetic"}, {"catalog", "--slug", "nosuch"}, {"status"}, {"connections", "list", "--wide"},
		{"connections", "check", "nosuch"}, {"credits"}, {"status", "RUN"}, {"results", "RUN", "--all-metrics", "--diff"}, {"wait", "RUN"}, {"events", "RUN"}, {"export", "RUN", "--output", "/"},
		{"run", "arithmetic", "--model", "practice.solver-80", "--sample", "2", "--max-cost", "1", "--dry-run"}, {"status", "RUN", "--json"}, {"catalog", "--json"}, {"catalog", "--jq", ".data[].name"},
		{"whoami"}, {"workspace", "list", "--wide"}, {"benchmark", "list", "--wide"},
		{"open", "RUN"}, {"results", "00000000-0000-4000-8000-000000000000"},
	}
	app, out, _ := attendedApp(home, f.URL, f.Token, nil)
	command.Execute(t.Context(), app, tree(app), []string{"--allow-http", "status", "--jq", ".data[0].id"})
	id := strings.TrimSpace(out.String())
	texts, from := hostileStrings(2000), spoilable()
	const together = 5 // strings in one text
	used, shown := 0, map[string]bool{}
	for used < len(texts) {
		spoil := map[string]string{}
		for _, name := range from {
			end := min(used+together, len(texts))
			spoil[name] = strings.Join(texts[used:end], " ")
			used = end
		}
		s.texts.Store(&spoil)
		for _, line := range lines {
			args := strings.Split(strings.ReplaceAll(strings.Join(line, "\x1f"), "RUN", id), "\x1f")
			text := run(args...)
			checkInert(t, strings.Join(line, " "), text)
			shown[line[0]] = shown[line[0]] || strings.Contains(text, `\x1b`) || strings.Contains(text, `\u001b`)
		}
		if t.Failed() {
			return
		}
	}
	if used < 2000 {
		t.Errorf("%d strings were used", used)
	}
	for _, name := range []string{"catalog", "status", "connections", "results", "wait", "events", "run"} {
		if !shown[name] {
			t.Errorf("%s showed no hostile text at all, so that nothing was tested", name)
		}
	}
}

var ownStyles = regexp.MustCompile(`\x1b\[(0|1|31|32|33)m|\r\x1b\[K|\r[^\r\n\x1b]*\x1b\[K`)

func checkInert(t *testing.T, what, text string) {
	t.Helper()
	rest := ownStyles.ReplaceAllString(text, "")
	for i, r := range rest {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || plain.Hidden(r) {
			t.Errorf("%s: %U reaches the terminal in %q", what, r, rest[max(0, i-40):min(len(rest), i+40)])
			return
		}
	}
}
