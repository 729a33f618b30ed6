// Package courier sends the service's few mails over SMTP.
//
// The settings stand in a file that only its owner can read, because they hold
// a password. Mail goes over TLS: from the first byte on port 465, with
// STARTTLS otherwise, and a server that does not offer it is refused unless it
// is on this machine. A mail is text of ours with values that were checked; no
// header is made of anything that could end a line.
package courier

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/netip"
	"net/smtp"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/strictjson"
)

// Settings is the file.
type Settings struct {
	Address  string `json:"address"` // host:port
	From     string `json:"from"`    // a mailbox such as "EvalRouter <no-reply@example.org>"
	User     string `json:"user"`
	Password string `json:"password"`
}

// Courier sends mails.
type Courier struct {
	s    Settings
	from *mail.Address
	host string
	now  func() time.Time
}

// sendWithin bounds one mail; a person waits for it.
const sendWithin = 20 * time.Second

// Parse reads settings. Errors name fields and never a value.
func Parse(data []byte, now func() time.Time) (*Courier, error) {
	var s Settings
	if err := strictjson.Decode(data, &s); err != nil {
		return nil, fmt.Errorf("the mail settings are one JSON object with address, from, user and password: %w", err)
	}
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil || host == "" {
		return nil, errors.New("address is not host:port")
	}
	from, err := mail.ParseAddress(s.From)
	if err != nil {
		return nil, errors.New("from is not a mailbox such as EvalRouter <no-reply@example.org>")
	}
	if (s.User == "") != (s.Password == "") {
		return nil, errors.New("user and password belong together")
	}
	return &Courier{s: s, from: from, host: host, now: now}, nil
}

// String hides the password.
func (c *Courier) String() string { return "mail by " + c.s.Address }

// Send sends a text. It returns once the server took it.
func (c *Courier) Send(ctx context.Context, to, subject, text string) error {
	if strings.ContainsAny(to+subject, "\r\n") {
		return errors.New("send mail: a line break in an address or subject")
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.s.Address)
	if err != nil {
		return fmt.Errorf("reach the mail server: %w", err)
	}
	defer conn.Close()
	if at, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(at); err != nil {
			return err
		}
	}
	if err := c.deliver(conn, to, subject, text); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}

func (c *Courier) deliver(conn net.Conn, to, subject, text string) error {
	encrypted := strings.HasSuffix(c.s.Address, ":465")
	if encrypted {
		conn = tls.Client(conn, &tls.Config{ServerName: c.host, MinVersion: tls.VersionTLS12})
	}
	client, err := smtp.NewClient(conn, c.host)
	if err != nil {
		return err
	}
	defer client.Close()
	if ok, _ := client.Extension("STARTTLS"); ok && !encrypted {
		if err := client.StartTLS(&tls.Config{ServerName: c.host, MinVersion: tls.VersionTLS12}); err != nil {
			return err
		}
		encrypted = true
	}
	if !encrypted && !loopback(c.host) {
		return errors.New("the mail server offers no encryption")
	}
	if c.s.User != "" {
		if err := client.Auth(smtp.PlainAuth("", c.s.User, c.s.Password, c.host)); err != nil {
			return errors.New("the mail server refused user and password") // its own words may repeat them
		}
	}
	if err := client.Mail(c.from.Address); err != nil {
		return err
	}
	if err := client.Rcpt(to); err != nil {
		return err
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(c.message(to, subject, text)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return client.Quit()
}

func (c *Courier) message(to, subject, text string) []byte {
	var b strings.Builder
	for _, h := range [][2]string{
		{"From", c.from.String()}, {"To", (&mail.Address{Address: to}).String()}, {"Subject", mime.QEncoding.Encode("utf-8", subject)},
		{"Date", c.now().UTC().Format(time.RFC1123Z)}, {"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=utf-8"}, {"Auto-Submitted", "auto-generated"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n" + strings.ReplaceAll(text, "\n", "\r\n"))
	return []byte(b.String())
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
