package flow

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/local"
)

// Cause says in a few words why a service could not be reached, "" when the
// error does not tell. People mend a name, a port, a certificate and a missing
// "s" of https in different places.
func Cause(err error) string {
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var own *local.Error
	switch {
	case err == nil, errors.Is(err, api.RequestTimeout): // whose own sentence says how long
		return ""
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host of that name"
	case errors.As(err, &dns):
		return "the name of the host could not be looked up"
	case errors.As(err, &own):
		return own.Message
	case errors.Is(err, local.ErrAbsent):
		return "another program has its port by now"
	case Refused(err):
		return "connection refused, nothing listens there"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was cut"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no way to that network"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "it speaks plain http there, not https"
	case errors.As(err, &authority):
		return "its certificate is not signed by an authority that this machine knows"
	case errors.As(err, &host):
		return "its certificate is for another name"
	case errors.As(err, &cert):
		return "its certificate is not valid"
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "no answer in time"
	}
	for root := err; root != nil; root = errors.Unwrap(root) {
		if root.Error() == http.StatusText(http.StatusProxyAuthRequired) { // of a proxy's refusal net/http keeps the words only
			return "the proxy wants a user name and password"
		}
		if strings.Contains(root.Error(), "malformed HTTP") { // net/http has no type for it
			return "what answers there does not speak http; is it https?"
		}
	}
	return ""
}

// Refused says that the service does not listen where it is expected: nobody
// does, or a stranger has its port by now.
func Refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, local.ErrAbsent)
}
