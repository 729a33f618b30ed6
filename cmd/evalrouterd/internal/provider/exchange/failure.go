package exchange

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Failure is the outcome of a reply that brought no complete answer. Its
// messages are ours: an error of the network can name addresses that the
// caller must not learn.
func (r Reply) Failure() provider.Outcome {
	o := provider.Outcome{Class: provider.Unknown, Status: r.Status, Raw: r.Raw, Code: core.CodeOutcomeUnknown, UsageState: provider.UsageMissing}
	var refused *core.Refusal
	switch {
	case !r.Connected && errors.As(r.Err, &refused):
		o.Class, o.Reach, o.Code, o.Reason, o.UsageState = provider.Rejected, provider.Route, core.CodeProviderError, string(refused.Code), provider.UsageNone
		o.Message = refused.Message
	case !r.Connected:
		o.Class, o.Code, o.Reason, o.UsageState = provider.NotSent, core.CodeProviderError, "not_sent", provider.UsageNone
		o.Message = unreachable(r.Err)
	case errors.Is(r.Err, ErrBodyLimit):
		o.Reason, o.Message = "body_over_limit", "the answer is larger than 8 MiB, or than 64 MiB as a stream"
	case errors.Is(r.Err, context.Canceled):
		o.Reason, o.Message = "interrupted", "the call was interrupted while it was under way"
	case timedOut(r.Err):
		o.Code, o.Reason, o.Message = core.CodeProviderTimeout, "timeout", "no complete answer in time"
	default:
		o.Reason, o.Message = cut, "the connection broke before the answer was complete"
	}
	return o
}

// cut is the reason of a body whose connection broke.
const cut = "cut"

func timedOut(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}

func unreachable(err error) string {
	var (
		dns     *net.DNSError
		record  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		alert   tls.AlertError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "the call was stopped before it was sent"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host name was not found"
	case errors.As(err, &dns):
		return "the host name could not be looked up"
	case timedOut(err):
		return "no connection in time"
	case errors.As(err, &record), errors.As(err, &alert):
		return "the endpoint does not speak TLS as expected"
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verify):
		return "the endpoint's certificate is not accepted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused: nothing listens there"
	}
	return "no connection to the endpoint"
}

// maxMessage is how many characters of a provider's sentence are kept.
const maxMessage = 500

// Message makes a provider's sentence safe to store and show: one line, no
// control characters, at most 500 characters, and never the key.
func Message(s string, key provider.Secret) string { return short(hide(s, key), maxMessage) }

// ID is Message for ids and names: at most 200 characters.
func ID(s string) string { return short(s, 200) }

// hide replaces the key wherever it stands, however it is written. A key of a few characters is a
// word that local servers accept, not a secret.
func hide(s string, key provider.Secret) string {
	if k := key.Reveal(); len(k) >= 8 {
		return string(hideIn([]byte(s), k))
	}
	return s
}

func short(s string, most int) string {
	if len(s) > 8*most { // bounds the work; a character has at most 4 bytes
		s = s[:8*most]
	}
	s = strings.TrimSpace(string(plain.Line(s)))
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i]
		}
	}
	return s
}
