package replay

import (
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// maxBody bounds a request's body in bytes.
const maxBody = 4 << 20

// Config says what is served and what goes wrong on purpose.
type Config struct {
	Recording *Recording
	Model     string // the only model; a request for another gets 404
	Key       string // required as a bearer token when not empty
	LogPath   string // file that keeps the counts across restarts, empty for none

	Latency time.Duration // before every answer
	// FailRate and DropRate are the shares of questions that get a 503, or no answer at all after they were counted.
	// Seed, question and how often it was seen decide, so a rerun fails alike in whatever order it asks.
	FailRate, DropRate float64
	Seed               uint64
}

// Server is the endpoint. Close it after the HTTP server that uses it has ended.
type Server struct {
	config Config
	books  *books
	mux    *http.ServeMux
}

type outcome int

const (
	answered outcome = iota
	failed
	dropped
)

// New opens the log and returns the endpoint.
func New(c Config) (*Server, error) {
	if c.FailRate < 0 || c.DropRate < 0 || c.FailRate+c.DropRate > 1 {
		return nil, fmt.Errorf("use rates %v and %v: each must be at least 0 and their sum at most 1", c.FailRate, c.DropRate)
	}
	b, err := openBooks(c.LogPath, c.Recording)
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, books: b, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1/chat/completions", s.authorized(func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, chatForm) }))
	s.mux.HandleFunc("POST /v1/completions", s.authorized(func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, textForm) }))
	s.mux.HandleFunc("GET /v1/models", s.authorized(s.models))
	s.mux.HandleFunc("GET /counters", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, s.books.snapshot()) })
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "no route "+r.Method+" "+r.URL.Path)
	})
	return s, nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Counters returns the counts so far.
func (s *Server) Counters() Counters { return s.books.snapshot() }

// Close closes the log.
func (s *Server) Close() error { return s.books.close() }

func (s *Server) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		want := "Bearer " + s.config.Key
		if s.config.Key != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(want)) != 1 {
			refuse(w, http.StatusUnauthorized, "invalid_api_key", "the API key is missing or wrong")
			return
		}
		next(w, r)
	}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		OwnedBy string `json:"owned_by"`
	}
	reply(w, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{{s.config.Model, "model", "replay"}}})
}

// complete answers one question of either form.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, f form) {
	var q query
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", "the body is no JSON request: "+err.Error())
		return
	}
	prompt, err := f.prompt(q)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	case q.Stream:
		refuse(w, http.StatusBadRequest, "unsupported", "this endpoint does not stream")
		return
	case q.Model != s.config.Model:
		refuse(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("no model %q; it serves %q", q.Model, s.config.Model))
		return
	}
	i, ok := s.config.Recording.find(prompt.question)
	if !ok {
		s.books.unknown()
		refuse(w, http.StatusBadRequest, "question_unknown", "the last user message contains no recorded question")
		return
	}
	e := s.config.Recording.entries[i]
	before, err := s.books.begin(e.question)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	o := s.fate(e.question, before)
	defer func() { s.books.end(o) }()
	if !wait(r, s.config.Latency) {
		o = dropped
		return
	}
	switch o {
	case failed:
		refuse(w, http.StatusServiceUnavailable, "unavailable", "failed on purpose")
	case dropped:
		panic(http.ErrAbortHandler) // the documented way to close a connection without an answer
	default:
		reply(w, http.StatusOK, f.record(s.config.Model, prompt.tokens, e, q.limit()))
	}
}

// fate decides what becomes of a question that was seen before times.
func (s *Server) fate(question string, before int) outcome {
	if s.config.FailRate == 0 && s.config.DropRate == 0 {
		return answered
	}
	h := fnv.New64a()
	var numbers [16]byte
	binary.LittleEndian.PutUint64(numbers[:8], s.config.Seed)
	binary.LittleEndian.PutUint64(numbers[8:], uint64(before))
	h.Write(numbers[:])
	h.Write([]byte(question))
	switch share := float64(mix(h.Sum64())>>11) / (1 << 53); {
	case share < s.config.FailRate:
		return failed
	case share < s.config.FailRate+s.config.DropRate:
		return dropped
	}
	return answered
}

// mix spreads the hash over all bits: FNV alone leaves the high bits of short inputs close together.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// wait sleeps for d and reports whether the client is still there.
func wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that went away cannot be told.
	_, _ = w.Write(append(body, '\n'))
}

// refuse answers in the error form of the API that is imitated.
func refuse(w http.ResponseWriter, status int, code, message string) {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	reply(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": code, "param": nil}})
}

// Tokens is the deterministic token count that usage is made of: one token for every four bytes begun.
func Tokens(bytes int) int { return (bytes + 3) / 4 }

// clip cuts an answer to a number of tokens without splitting a character, as a model stops at its limit.
func clip(answer string, limit int) (string, bool) {
	if limit <= 0 || Tokens(len(answer)) <= limit {
		return answer, false
	}
	n := limit * 4
	for n > 0 && !utf8.RuneStart(answer[n]) {
		n--
	}
	return answer[:n], true
}

var errNoQuestion = errors.New("no message of role user with text")

func lastUser(messages []message) (string, error) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == "user" {
			if text := messages[i].text(); strings.TrimSpace(text) != "" {
				return text, nil
			}
			break
		}
	}
	return "", errNoQuestion
}
