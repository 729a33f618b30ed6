package tracing

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// endpoint is where OTLP requests of an origin go. The text is never part of an
// error: it may hold a password by mistake.
func endpoint(raw string) (string, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" || !graphic(raw):
		return "", errOrigin("is not an origin such as " + DefaultBaseURL)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errOrigin("must have no user name, query or fragment")
	}
	if p := strings.TrimRight(u.EscapedPath(), "/"); p != "" && p != "/v1" {
		return "", errOrigin("may end in /v1 and must have no other path")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return "", errOrigin("must begin with https://; plain http is for loopback addresses only")
	}
	return u.Scheme + "://" + u.Host + "/v1/otlp/v1/traces", nil
}

func errOrigin(why string) error {
	return errors.New("trace capture is off: " + EnvBaseURL + " " + why)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Zone() == "" && a.Unmap().IsLoopback()
}
