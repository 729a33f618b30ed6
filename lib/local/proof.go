package local

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// nonceHeader asks the service to prove that it knows the owner's token.
const nonceHeader = "X-Local-Nonce"

const pingLimit = 2 * time.Second

// Proof is what a service that knows the token answers to a nonce: the
// HMAC-SHA-256 of the nonce's text, a line feed and the host and port that it was
// asked at, under the token, in hexadecimal. With the port in it, nobody can pass
// on what the service at another port has proved.
func Proof(token, nonce, host string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(nonce + "\n" + host)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// Dial connects to where the service of this directory is expected, and has what
// answers there prove on this very connection that it is that service. A port
// outlives its process, so whoever has it next must see no request of this user,
// and never the owner's token. It fits an http.Transport; an error is ErrAbsent
// where a stranger answers, and no timeout where nobody does.
func (s *Service) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	token, err := s.Token()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(limited, network, addr)
	if err == nil {
		if err = ask(limited, conn, addr, token); err == nil {
			return conn, nil
		}
		_ = conn.Close() // nothing was exchanged that could be lost
	}
	if limited.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("no answer within %s", pingLimit)
	}
	return nil, err
}

// prove asks the listener behind a record to show that it is the service of
// this directory.
func (s *Service) prove(ctx context.Context, r Record) error {
	conn, err := s.Dial(ctx, "tcp", strings.TrimSuffix(strings.TrimPrefix(r.BaseURL, "http://"), "/"))
	var own *Error
	switch {
	case err == nil:
		return conn.Close()
	case errors.As(err, &own):
		return own
	case errors.Is(err, ErrAbsent):
		return s.unreachable("process %d is said to be the local service, but what answers at %s is not; its token was not sent there", r.PID, r.BaseURL)
	}
	return s.unreachable("the local service (process %d) does not answer at %s: %s", r.PID, r.BaseURL, networkReason(err))
}

func (s *Service) unreachable(format string, args ...any) *Error {
	return &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf(format, args...), Log: s.LogPath()}
}

// ask has the other end of a connection prove that it knows the token: ErrAbsent
// where it does not, hangs up or speaks another language. The connection can be
// used for requests after it.
func ask(ctx context.Context, conn net.Conn, addr, token string) (err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // fails on a closed one only
	defer func() {
		if !stop() { // the connection has that deadline, or is about to have it
			err = ctx.Err()
		}
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return errors.New("its address cannot be used")
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails, by its contract
	nonce := hex.EncodeToString(raw[:])
	req.Header.Set(nonceHeader, nonce)
	stranger := fmt.Errorf("what answers at %s is not the service of this user, and the owner's token was not sent there: %w", addr, ErrAbsent)
	if req.Write(conn) != nil {
		return stranger
	}
	in := bufio.NewReader(io.LimitReader(conn, 64<<10))
	res, err := http.ReadResponse(in, req)
	if err != nil {
		return stranger
	}
	defer res.Body.Close() // read to its end or given up
	body, err := io.ReadAll(io.LimitReader(res.Body, 4096))
	var answer struct {
		Proof string `json:"proof"`
	}
	if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(body, &answer) != nil || !hmac.Equal([]byte(answer.Proof), []byte(Proof(token, nonce, addr))) {
		return stranger
	}
	if res.Close || in.Buffered() > 0 {
		return errors.New("the local service takes no request on this connection")
	}
	return nil
}

// networkReason is an error without addresses and layers.
func networkReason(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", pingLimit)
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
