package discover_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/discover"
)

// answers are what a fake server says at each path; anything else is 404.
type answers map[string]string

// listen starts a fake server on loopback and gives its port.
func listen(t *testing.T, a answers) int {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
			t.Errorf("asked with %s and a credential %q", r.Method, r.Header.Get("Authorization"))
		}
		body, ok := a[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case body == "401":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			fmt.Fprint(w, body)
		}
	}))
	t.Cleanup(srv.Close)
	return portOf(t, srv.URL)
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const generic = `{"object":"list","data":[{"id":"m","owned_by":"somebody"}]}`

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a    answers
		want *discover.Server
	}{
		{"Ollama, with a model that runs elsewhere", answers{
			"/": "Ollama is running", "/api/version": `{"version":"0.34.0"}`, "/v1/models": generic,
			"/api/tags": `{"models":[{"name":"llama3.2:3b"},{"name":"big:cloud","remote_host":"https://ollama.com"}]}`,
			"/api/ps":   `{"models":[{"name":"llama3.2:3b","context_length":8192}]}`,
		}, &discover.Server{Kind: discover.Ollama, Version: "0.34.0", Models: []discover.Model{{ID: "llama3.2:3b", Context: 8192}, {ID: "big:cloud", Remote: true}}}},
		{"Ollama without models", answers{"/": "Ollama is running", "/api/version": `{"version":"1"}`, "/v1/models": `{"data":null}`},
			&discover.Server{Kind: discover.Ollama, Version: "1"}},
		{"LM Studio", answers{"/v1/models": generic,
			"/api/v1/models": `{"models":[{"type":"llm","key":"qwen","loaded_instances":[{"config":{"context_length":4096}}]},{"type":"embedding","key":"e"}]}`},
			&discover.Server{Kind: discover.LMStudio, Models: []discover.Model{{ID: "qwen", Context: 4096}}}},
		{"an older LM Studio", answers{"/v1/models": generic, "/api/v0/models": `{"data":[{"id":"qwen","type":"llm","state":"not-loaded","compatibility_type":"gguf"}]}`},
			&discover.Server{Kind: discover.LMStudio, Models: []discover.Model{{ID: "qwen"}}}},
		{"llama.cpp", answers{"/props": `{"default_generation_settings":{"n_ctx":16384},"build_info":"b7000"}`, "/v1/models": `{"data":[{"id":"m.gguf","owned_by":"llamacpp","meta":null}]}`},
			&discover.Server{Kind: discover.LlamaCpp, Version: "b7000", Models: []discover.Model{{ID: "m.gguf", Context: 16384}}}},
		{"vLLM", answers{"/version": `{"version":"0.28"}`, "/v1/models": `{"data":[{"id":"org/m","owned_by":"vllm","max_model_len":32768}]}`},
			&discover.Server{Kind: discover.VLLM, Version: "0.28", Models: []discover.Model{{ID: "org/m", Context: 32768}}}},
		{"vLLM that wants a key", answers{"/version": `{"version":"0.28"}`, "/v1/models": "401"}, &discover.Server{Kind: discover.VLLM, Version: "0.28", NeedsKey: true}},
		{"something that wants a key", answers{"/v1/models": "401"}, &discover.Server{Kind: discover.Compatible, NeedsKey: true}},
		{"something compatible", answers{"/v1/models": generic}, &discover.Server{Kind: discover.Compatible, Models: []discover.Model{{ID: "m"}}}},
		{"names that are none", answers{"/v1/models": `{"data":[{"id":""},{"id":"a\u001b[2J"},{"id":"` + strings.Repeat("x", 201) + `"},{"id":"ok"}]}`},
			&discover.Server{Kind: discover.Compatible, Models: []discover.Model{{ID: "ok"}}}},
		{"a web server", answers{"/": "<html>", "/v1/models": "<html>"}, nil},
		{"a web server without such a path", answers{"/": "<html>"}, nil},
		{"an answer without end", answers{"/v1/models": `{"data":[` + strings.Repeat(" ", 70<<10) + `]}`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			port := listen(t, c.a)
			var want []discover.Server
			if c.want != nil {
				w := *c.want
				w.BaseURL = fmt.Sprintf("http://127.0.0.1:%d/v1", port)
				want = append(want, w)
			}
			if d := cmp.Diff(want, discover.Finder{Ports: []int{port}}.Find(t.Context())); d != "" {
				t.Error(d)
			}
		})
	}
}

// Nothing listens, something does not speak HTTP, and something leads away:
// none is an error, and what is there is still found, in the order of ports.
func TestFind_AmongOthers(t *testing.T) {
	t.Parallel()
	var led atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { led.Store(true); fmt.Fprint(w, generic) }))
	t.Cleanup(elsewhere.Close)
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(away.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	hello := make(chan struct{})
	go func() { // a server of another protocol greets and hangs up
		defer close(hello)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "220 hello\r\n")
			c.Close()
		}
	}()
	closed := httptest.NewServer(http.NotFoundHandler())
	gone := portOf(t, closed.URL)
	closed.Close()
	first, last := listen(t, answers{"/v1/models": generic}), listen(t, answers{"/v1/models": generic})
	ports := []int{first, gone, l.Addr().(*net.TCPAddr).Port, portOf(t, away.URL), last}
	got := discover.Finder{Ports: ports}.Find(t.Context())
	if len(got) != 2 || !strings.Contains(got[0].BaseURL, strconv.Itoa(first)) || !strings.Contains(got[1].BaseURL, strconv.Itoa(last)) {
		t.Errorf("found %+v", got)
	}
	if led.Load() {
		t.Error("a redirect was followed")
	}
	l.Close()
	<-hello
}
