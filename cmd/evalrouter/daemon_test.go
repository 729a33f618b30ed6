package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/usd"
)

const ownerToken = "erk_local_owner"

// fakeDaemon is evalrouterd's on-demand service with the service in memory
// behind it. It keeps the promises that lib/local relies on, and calls the
// fake's practice route by its real name.
func fakeDaemon() {
	if err := serveLocal(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveLocal(args []string) error {
	if len(args) != 5 || args[0] != "local" || args[1] != "--data" || args[3] != "--port" {
		return fmt.Errorf("unknown arguments %q", args)
	}
	dir := args[2]
	if _, err := os.Stat(filepath.Join(dir, "broken")); err == nil {
		return errors.New("the database is damaged")
	}
	if _, err := os.Stat(filepath.Join(dir, "refuses")); err == nil {
		fmt.Fprintln(os.Stderr, "evalrouterd: the master key is missing (master_key_missing)")
		os.Exit(2)
	}
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "EVALROUTER_") {
			return errors.New("a variable of the caller leaked into the service")
		}
	}
	f := apitest.NewFake(apitest.Options{Token: ownerToken, WorkspaceID: local.Workspace, TaskTime: time.Millisecond, Credits: 100 * usd.Dollar})
	defer f.Close()
	srv := httptest.NewServer(renamed(f.URL))
	defer srv.Close()
	u, err := url.Parse(srv.URL)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return err
	}
	data, err := json.Marshal(local.Record{Schema: local.Schema, PID: os.Getpid(), Port: port, BaseURL: srv.URL, Version: "9.9.9", StartedAt: time.Now()})
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, "service.json.tmp")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "owner.token"), []byte(ownerToken+"\n"), 0o600), os.WriteFile(temp, data, 0o600),
		os.Rename(temp, filepath.Join(dir, "service.json"))); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Fprintln(os.Stderr, "fake service is ready")
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(2 * time.Minute): // a test that died must not leave it behind
		return errors.New("nobody stopped this service")
	}
}

// renamed passes requests on, with the practice route under its real name.
func renamed(to string) http.Handler {
	const real, fake = "practice.solver-0.8", "practice.solver-80"
	target, err := url.Parse(to)
	if err != nil {
		panic(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.URL.RawQuery = strings.ReplaceAll(r.Out.URL.RawQuery, real, fake)
			body, _ := io.ReadAll(r.In.Body) // a short body is refused by the fake
			body = bytes.ReplaceAll(body, []byte(real), []byte(fake))
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		},
		ModifyResponse: func(res *http.Response) error {
			body, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			body = bytes.ReplaceAll(body, []byte(fake), []byte(real))
			res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			res.Header.Set("Content-Length", strconv.Itoa(len(body)))
			res.Header.Del("X-Content-Sha256")
			return nil
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"ok":true,"proof":%q}`, local.Proof(ownerToken, r.Header.Get("X-Local-Nonce"), r.Host))
	})
	mux.Handle("/", proxy)
	return mux
}
