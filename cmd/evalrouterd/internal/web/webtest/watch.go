package webtest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Watch is what happens in a tab, from the moment on that it was asked for.
type Watch struct {
	p  *Page
	mu sync.Mutex
	// all of it, in order
	requests []string
	returns  []string
	dialogs  []string
	faults   []string
}

// Watch begins to look at a tab.
func (p *Page) Watch() *Watch {
	p.t.Helper()
	w := &Watch{p: p}
	p.b.mu.Lock()
	p.b.watched[p.session] = w.take
	p.b.mu.Unlock()
	for _, domain := range []string{"Page", "Network", "Runtime", "Log", "Audits"} {
		p.call(domain+".enable", nil, nil)
	}
	return w
}

func (b *Browser) happened(raw []byte) {
	var e event
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	b.mu.Lock()
	take := b.watched[e.SessionID]
	b.mu.Unlock()
	if take != nil {
		take(e)
	}
}

// take is called by the listener, and waits for nobody.
func (w *Watch) take(e event) {
	var x struct {
		Request       struct{ URL string }
		Headers       map[string]string
		Message, Type string
		Entry         struct{ Source, Level, Text, URL string }
		Issue         struct {
			Code    string
			Details json.RawMessage
		}
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if json.Unmarshal(e.Params, &x) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Method {
	case "Network.requestWillBeSent":
		w.requests = append(w.requests, x.Request.URL)
	case "Network.requestWillBeSentExtraInfo": // the headers as they go out
		for name, v := range x.Headers {
			if strings.EqualFold(name, "Last-Event-ID") {
				w.returns = append(w.returns, v)
			}
		}
	case "Page.javascriptDialogOpening":
		w.dialogs = append(w.dialogs, x.Type+" "+x.Message)
		// The page stands still until somebody answers.
		go func() { _ = w.p.b.call(w.p.session, "Page.handleJavaScriptDialog", params{"accept": false}, nil) }()
	case "Runtime.exceptionThrown":
		w.faults = append(w.faults, x.ExceptionDetails.Text+" "+x.ExceptionDetails.Exception.Description)
	case "Log.entryAdded":
		if x.Entry.Level == "error" && x.Entry.Source != "network" {
			w.faults = append(w.faults, x.Entry.Source+": "+x.Entry.Text)
		}
	case "Audits.issueAdded":
		if x.Issue.Code == "ContentSecurityPolicyIssue" {
			w.faults = append(w.faults, "policy: "+string(x.Issue.Details))
		}
	}
}

// Dialogs are those that a script opened.
func (w *Watch) Dialogs() []string { w.mu.Lock(); defer w.mu.Unlock(); return slices.Clone(w.dialogs) }

// Faults are errors of scripts, and what a policy refused.
func (w *Watch) Faults() []string { w.mu.Lock(); defer w.mu.Unlock(); return slices.Clone(w.faults) }

// Returns are what streams that were asked for again said that they saw last.
func (w *Watch) Returns() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.returns)
}

// Beyond are the addresses that the page asked for, or tried to, and that do not
// begin with base.
func (w *Watch) Beyond(base string) (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, address := range w.requests {
		if !strings.HasPrefix(address, base) && !strings.HasPrefix(address, "about:") {
			out = append(out, address)
		}
	}
	return out
}

// Press clicks an element as a pointer does, in the middle of what is seen of it.
func (p *Page) Press(selector string) *Page {
	p.t.Helper()
	raw, err := json.Marshal(selector)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Until(`document.querySelector(` + string(raw) + `)`)
	var at struct{ X, Y float64 }
	p.Eval(`(() => { const e = document.querySelector(`+string(raw)+`); e.scrollIntoView({block: "center"}); const r = e.getClientRects()[0]; return {x: r.x + r.width / 2, y: r.y + r.height / 2} })()`, &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.call("Input.dispatchMouseEvent", params{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
	return p
}

// Back goes back to where the tab was before.
func (p *Page) Back() {
	p.t.Helper()
	var ok bool
	p.Eval(`(history.back(), true)`, &ok)
}
