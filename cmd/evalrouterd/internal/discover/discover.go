// Package discover looks for model servers on this machine.
//
// The decisions:
//
//   - Only loopback is looked at, on the ports that the servers usually have,
//     and only with GET: nothing is started, loaded or asked to answer.
//   - What a server is, its answers say, not its port: ports are shared.
//   - Looking costs little and trusts nobody: no redirects, no credentials, no
//     proxy, at most 64 KiB an answer and a second a question.
package discover

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Kinds of server.
const (
	Ollama     = "ollama"
	LMStudio   = "lmstudio"
	LlamaCpp   = "llama.cpp"
	VLLM       = "vllm"
	Compatible = "openai_compatible"
)

// Server is what was found at a port.
type Server struct {
	Kind    string
	BaseURL string // the root of its OpenAI-compatible protocol
	Version string // "" when it does not say
	// NeedsKey says that it asked for one before telling its models.
	NeedsKey bool
	Models   []Model
}

// Model is a model of a server. Context is its window in tokens as the server
// runs it, 0 when unknown.
type Model struct {
	ID      string
	Context int
	// Remote says that it runs elsewhere, and may be billed.
	Remote bool
}

// Ports are those of Ollama, LM Studio, llama.cpp and vLLM. Each call gives a
// fresh slice.
func Ports() []int { return []int{11434, 1234, 8080, 8000} }

// Bounds of looking.
const (
	connectTime = 300 * time.Millisecond
	askTime     = time.Second
	maxAnswer   = 64 << 10
	maxModels   = 200
	maxName     = 200
)

// Finder looks at some ports.
type Finder struct{ Ports []int }

// Find asks every port at once and lists what answered, in the order of the
// ports.
func (f Finder) Find(ctx context.Context) []Server {
	found := make([]*Server, len(f.Ports))
	client := &http.Client{
		Timeout:       askTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: nil, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxAnswer,
			DialContext: (&net.Dialer{Timeout: connectTime}).DialContext,
		},
	}
	var all sync.WaitGroup
	for i, port := range f.Ports {
		all.Go(func() {
			p := prober{ctx: ctx, client: client, origin: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
			found[i] = p.look()
		})
	}
	all.Wait()
	var list []Server
	for _, s := range found {
		if s != nil {
			list = append(list, *s)
		}
	}
	return list
}

// prober asks one port.
type prober struct {
	ctx    context.Context
	client *http.Client
	origin string
}

// look tries what only one kind of server answers, and last what all do.
func (p prober) look() *Server {
	first, status := p.get("/v1/models")
	if status == 0 {
		return nil // nothing listens, or it does not speak HTTP
	}
	for _, try := range []func() *Server{p.ollama, p.lmStudio, p.llamaCpp} {
		if s := try(); s != nil {
			return p.named(s)
		}
	}
	return p.named(p.generic(first, status))
}

func (p prober) named(s *Server) *Server {
	if s == nil {
		return nil
	}
	s.BaseURL, s.Version = p.origin+"/v1", clean(s.Version)
	s.Models = slices.DeleteFunc(s.Models, func(m Model) bool { return m.ID == "" || m.ID != clean(m.ID) })
	s.Models = s.Models[:min(len(s.Models), maxModels)]
	return s
}

// clean is text that may stand on a line, cut to a length that names have.
func clean(s string) string {
	s = string(plain.Line(s))
	if utf8.RuneCountInString(s) > maxName {
		return ""
	}
	return strings.TrimSpace(s)
}

// get asks for a path. The status is 0 when no answer came.
func (p prober) get(path string) (body []byte, status int) {
	req, err := http.NewRequestWithContext(p.ctx, http.MethodGet, p.origin+path, nil)
	if err != nil {
		return nil, 0
	}
	req.Header.Set("User-Agent", "evalrouterd")
	res, err := p.client.Do(req)
	if err != nil {
		return nil, 0
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil || len(body) > maxAnswer {
		return nil, 0
	}
	return body, res.StatusCode
}

// ask reads an answer of status 200 into v.
func (p prober) ask(path string, v any) bool {
	body, status := p.get(path)
	return status == http.StatusOK && json.Unmarshal(body, v) == nil
}
