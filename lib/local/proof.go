package local

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// nonceHeader asks the service to prove that it knows the owner's token.
const nonceHeader = "X-Local-Nonce"

const pingLimit = 2 * time.Second

// Proof is what a service that knows the token answers to a nonce: the
// HMAC-SHA-256 of the nonce's text under the token, in hexadecimal.
func Proof(token, nonce string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(nonce)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// prove asks the listener behind a record to show that it is the service of
// this directory. A port outlives its process, so a record can lead to a
// stranger, and a stranger must never see the token. The token itself is not
// sent here.
func (s *Service) prove(ctx context.Context, r Record) error {
	token, err := s.Token()
	if err != nil {
		return err
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails, by its contract
	nonce := hex.EncodeToString(raw[:])
	got, err := s.ping(ctx, r, nonce)
	if err != nil {
		return s.unreachable("the local service (process %d) does not answer at %s: %s", r.PID, r.BaseURL, err)
	}
	if !hmac.Equal([]byte(got), []byte(Proof(token, nonce))) {
		return s.unreachable("process %d is said to be the local service, but what answers at %s is not; its token was not sent there", r.PID, r.BaseURL)
	}
	return nil
}

func (s *Service) unreachable(format string, args ...any) *Error {
	return &Error{Code: api.LocalServiceFailed, Message: fmt.Sprintf(format, args...), Log: s.LogPath()}
}

// ping answers the proof that the listener gives, "" if it gives none.
func (s *Service) ping(ctx context.Context, r Record, nonce string) (proof string, err error) {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(r.BaseURL, "/")+"/healthz", nil)
	if err != nil {
		return "", errors.New("its address cannot be used")
	}
	req.Header.Set(nonceHeader, nonce)
	res, err := s.HTTP.Do(req)
	if err != nil {
		return "", networkReason(err)
	}
	defer res.Body.Close() // read to its end or given up
	body, err := io.ReadAll(io.LimitReader(res.Body, 4096))
	if err != nil {
		return "", networkReason(err)
	}
	var answer struct {
		Proof string `json:"proof"`
	}
	if res.StatusCode != http.StatusOK || json.Unmarshal(body, &answer) != nil {
		return "", nil // a stranger
	}
	return answer.Proof, nil
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
