package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed assets/report.css
var css string

//go:embed assets/report.js
var script string

//go:embed assets/page.tmpl
var page string

// Sizes of an HTML report in bytes.
const (
	// MaxShell bounds everything but the tasks.
	MaxShell = 150_000
	// MaxHTML is the hard stop: no file is larger.
	MaxHTML = 25_000_000
	// htmlBudget is what a file may have by default. Tasks that go beyond it
	// are left out, right ones first.
	htmlBudget = 24_000_000
)

// ErrTooLarge says that a report would pass its hard stop. It happens when the
// summary alone is too large; tasks are left out before.
var ErrTooLarge = errors.New("the report would be larger than it may be")

// HTML writes a run as one file that needs no network and no script: the script
// in it searches the list of tasks, and without it everything can be read. Its
// policy allows that script and its style by their hashes and nothing else.
//
// budget is the size in bytes that the file may have, 0 for the default. A run
// that does not fit keeps its summary and as many tasks as fit, those that are
// not right first, and the page says at its top what is not there. tasks is
// gone over twice.
func HTML(w io.Writer, r Report, tasks Tasks, budget int64) error {
	if budget <= 0 {
		budget = htmlBudget
	}
	t, err := parts()
	if err != nil {
		return err
	}
	p := htmlPage{t: t, r: r, css: strings.TrimSpace(css), script: strings.TrimSpace(script)}
	// The longest line about what is left out.
	size, err := p.shell(fit{left: r.Coverage.Planned})
	switch {
	case err != nil:
		return err
	case size > MaxShell:
		return fmt.Errorf("write the summary of run %s: %w", r.Run, ErrTooLarge)
	}
	room := min(budget, MaxHTML) - size
	f, err := p.measure(tasks, room)
	if err != nil {
		return err
	}
	return p.write(w, tasks, f)
}

type htmlPage struct {
	t           *template.Template
	r           Report
	css, script string
}

// policy names the hashes of the only style and the only script.
func (p htmlPage) policy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(p.css) + "; script-src " + hash(p.script) + "; base-uri 'none'; form-action 'none'"
}

// top is what the first part of the page shows.
type top struct {
	Report
	fit
	Policy string
	CSS    template.CSS
}

func (p htmlPage) head(w io.Writer, f fit) error {
	// The style is a part of this program, and its hash stands in the policy.
	return p.t.ExecuteTemplate(w, "top", top{p.r, f, p.policy(), template.CSS(p.css)})
}

func (p htmlPage) tail(w io.Writer) error {
	return p.t.ExecuteTemplate(w, "bottom", struct {
		Report
		Script template.JS
	}{p.r, template.JS(p.script)})
}

// shell is the size of everything but the tasks.
func (p htmlPage) shell(f fit) (int64, error) {
	var n counter
	if err := p.head(&n, f); err != nil {
		return 0, fmt.Errorf("write page: %w", err)
	}
	if err := p.tail(&n); err != nil {
		return 0, fmt.Errorf("write page: %w", err)
	}
	return int64(n), nil
}

func (p htmlPage) write(w io.Writer, tasks Tasks, f fit) error {
	out := &stopper{w: w, left: MaxHTML}
	if err := p.head(out, f); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	var buf bytes.Buffer
	pick, n := f, 0
	for t, err := range tasks {
		if pick.done() {
			break
		}
		if err != nil {
			return fmt.Errorf("read tasks: %w", err)
		}
		if !pick.take(t) {
			continue
		}
		buf.Reset()
		if n%block == 0 {
			buf.WriteString(blockEdge(n))
		}
		if err := p.task(&buf, t); err != nil {
			return err
		}
		if _, err := out.Write(buf.Bytes()); err != nil {
			return err
		}
		n++
	}
	if n > 0 {
		if _, err := io.WriteString(out, "</section>\n"); err != nil {
			return err
		}
	}
	if err := p.tail(out); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// counter counts what is written.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// stopper ends a file that grows beyond its hard stop.
type stopper struct {
	w    io.Writer
	left int64
}

func (s *stopper) Write(b []byte) (int, error) {
	if s.left -= int64(len(b)); s.left < 0 {
		return 0, ErrTooLarge
	}
	return s.w.Write(b)
}

// parts are the parts of every page about a run.
func parts() (*template.Template, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"dollars": Dollars, "count": Count, "axis": axis}).Parse(page)
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	return t, nil
}
