package daemon

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/front"
)

// Codes of requests that are refused before they are read.
const (
	hostRefused = core.Code("host_refused")
	unavailable = core.Code("unavailable")
)

// facing is how serve meets the network.
type facing struct {
	// cert and key are files; "" for plain HTTP.
	cert, key string
	proxies   front.Proxies
	// metrics is where figures are collected; "" for nowhere.
	metrics string
}

// facing declares the flags of a service that others reach.
func (f *flagSet) facing() func() (facing, error) {
	cert := f.StringLong("tls-cert", "", "a `FILE` with the certificate chain for TLS; it is read again when it changes")
	key := f.StringLong("tls-key", "", "a `FILE` with the certificate's key")
	proxies := f.StringListLong("trusted-proxy", "an `ADDRESS` or network of a proxy that ends TLS in front of this service and says in X-Forwarded-For who asks; repeat it for more")
	metrics := f.StringLong("metrics", "", "`HOST:PORT` for GET /metrics, for a collector; nothing is collected without it")
	return func() (facing, error) {
		v := facing{cert: *cert, key: *key, metrics: *metrics}
		if (v.cert == "") != (v.key == "") {
			return v, refuse("invalid_input", "--tls-cert and --tls-key come together; nothing was started")
		}
		var err error
		if v.proxies, err = front.ParseProxies(*proxies); err != nil {
			return v, refuse("invalid_input", "--trusted-proxy: %s; nothing was started", err)
		}
		return v, nil
	}
}

// listen opens the socket, or takes the one that the process manager handed
// over, and reads the certificate.
func (r *runner) listen(ctx context.Context, addr string) (net.Listener, *front.Certificate, error) {
	var cert *front.Certificate
	var err error
	if r.facing.cert != "" {
		if cert, err = front.LoadCertificate(r.facing.cert, r.facing.key, time.Now, r.log.Logger); err != nil {
			return nil, nil, refuse("invalid_configuration", "%s; nothing was started", err)
		}
	}
	l, err := front.Inherited(r.sys.Getenv, os.Getpid())
	if err != nil {
		return nil, nil, refuse("invalid_configuration", "%s; nothing was started", err)
	}
	if l == nil {
		if l, err = net.Listen("tcp", addr); err != nil {
			return nil, nil, listenError(ctx, addr, err)
		}
	}
	if cert == nil && len(r.facing.proxies) == 0 && !front.Loopback(l) {
		_ = l.Close() // nobody was answered
		return nil, nil, refuse("invalid_configuration", "%s is reached from other machines, and over plain HTTP keys and answers can be read on the way; nothing was started. "+
			"Give --tls-cert and --tls-key, or --trusted-proxy with the address of the proxy that ends TLS, or listen on 127.0.0.1", l.Addr())
	}
	return l, cert, nil
}

// web is the service's server. It counts what it answers and begins no work
// once the end has begun.
func (r *runner) web(s *service, l net.Listener, cert *front.Certificate) *front.Server {
	w := front.New(front.Options{Handler: s, Listener: l, Certificate: cert, Proxies: r.facing.proxies, Now: time.Now, Log: r.log.Logger})
	if s.figures != nil {
		s.figures.front(w, cert)
	}
	return w
}

// ready says whether requests should come here.
func (s *service) ready(ctx context.Context) error {
	if s.ending.Load() {
		return core.Refuse(unavailable, "the service is ending; another process answers soon")
	}
	_, err := s.store.Meta(ctx, "ready")
	return err
}

// admit says no to what does not come to this machine by its name, and, once
// the end has begun, to what would begin work that this process cannot finish.
func (s *service) admit(hosts func(string) bool) func(*http.Request) error {
	return func(r *http.Request) error {
		if hosts != nil && !hosts(r.Host) {
			return core.Refuse(hostRefused, "this service answers to its loopback address only")
		}
		if s.ending.Load() && r.Method == http.MethodPost && beginsWork(r.URL.Path) {
			return core.Refuse(unavailable, "the service is being restarted; nothing was begun. Repeat the request after the time in Retry-After, with the same idempotency key")
		}
		return nil
	}
}

// beginsWork says which requests cost money or go on after their answer.
func beginsWork(path string) bool {
	switch path {
	case "/v1/runs", "/v1/evaluations", "/v1/groups", "/v1/benchmarks", "/v1/benchmark-imports":
		return true
	}
	return strings.HasPrefix(path, "/v1/connections/") && strings.HasSuffix(path, "/check")
}

// notify tells the process manager; that it does not listen is no reason to do
// anything else.
func (r *runner) notify(state string) {
	if err := front.Notify(r.sys.Getenv, state); err != nil {
		r.log.Warn("the process manager was not told", "state", state, "error", err.Error())
	}
}

// collect answers the collector of figures until the returned function is
// called.
func (r *runner) collect(ctx context.Context, s *service) (stop func(), err error) {
	if s.figures == nil {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", r.facing.metrics)
	if err != nil {
		return nil, listenError(ctx, r.facing.metrics, err)
	}
	srv := &http.Server{Handler: &s.figures.registry, ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 8 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // it ends when it is closed
	}()
	fmt.Fprintf(r.sys.Stderr, "evalrouterd: figures at http://%s/metrics\n", l.Addr())
	return func() {
		r.log.Debug("collecting ends", "error", srv.Close())
		<-done
	}, nil
}
