// Package loopback serves test endpoints on this machine only, and tells whoever started them where they listen.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// grace is how long a stopping server waits for open requests.
const grace = 5 * time.Second

// Check refuses a host:port that is not of this machine. Names other than localhost are refused too: what they mean
// is decided elsewhere.
func Check(hostport string) error {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return fmt.Errorf("read address %s: %w", hostport, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("use address %s: only loopback addresses are served", hostport)
	}
	return nil
}

// Endpoint is an HTTP server on a loopback address.
type Endpoint struct {
	Addr    string // host:port; port 0 takes a free one
	Ready   string // file that receives the base URL once it listens, empty for none
	Handler http.Handler
	Out     io.Writer // receives the base URL as one line
}

// Serve listens, announces itself and serves until ctx ends; then it lets open requests finish.
func (e Endpoint) Serve(ctx context.Context) error {
	if err := Check(e.Addr); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", e.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", e.Addr, err)
	}
	if err := e.announce("http://" + l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	srv := &http.Server{Handler: e.Handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		stopped <- srv.Shutdown(ctx)
	})
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serve on %s: %w", e.Addr, err)
	}
	if err := <-stopped; err != nil {
		return errors.Join(fmt.Errorf("stop serving: %w", err), srv.Close())
	}
	return nil
}

// announce writes the file by a rename, so that a reader never sees half an address.
func (e Endpoint) announce(base string) error {
	if e.Ready != "" {
		tmp := fmt.Sprintf("%s.%d", e.Ready, os.Getpid())
		if err := os.WriteFile(tmp, []byte(base+"\n"), 0o600); err != nil {
			return fmt.Errorf("announce the address: %w", err)
		}
		if err := os.Rename(tmp, e.Ready); err != nil {
			return errors.Join(fmt.Errorf("announce the address: %w", err), os.Remove(tmp))
		}
	}
	if _, err := fmt.Fprintln(e.Out, base); err != nil {
		return fmt.Errorf("announce the address: %w", err)
	}
	return nil
}
