// Package webtest drives a real Chromium for tests of pages, with the keyboard
// alone: what it cannot reach with Tab, a person without a pointer cannot
// either.
//
// It speaks the DevTools protocol over two pipes, which needs no port and no
// library.
package webtest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience bounds one wait for the browser; nothing is expected to come near it.
const patience = 30 * time.Second

// Browser is a running Chromium.
type Browser struct {
	t    testing.TB
	in   io.WriteCloser
	mu   sync.Mutex
	next int
	wait map[int]chan answer
	// watched are those who look at what happens in a tab, by its session.
	watched map[string]func(event)
	dead    chan struct{}
}

// event is something that happened in a tab.
type event struct {
	Method    string
	SessionID string
	Params    json.RawMessage
}

type answer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Find is the path of a Chromium, "" where there is none: the one that
// EVALROUTER_TEST_CHROMIUM names, or one of the usual names on the PATH.
func Find() string {
	if p := os.Getenv("EVALROUTER_TEST_CHROMIUM"); p != "" {
		return p
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// Start starts a browser that ends with the test; without one the test is
// skipped.
func Start(t testing.TB) *Browser {
	t.Helper()
	path := Find()
	if path == "" {
		t.Skip("there is no Chromium: EVALROUTER_TEST_CHROMIUM names none, and none is on the PATH")
	}
	args := []string{"--headless", "--remote-debugging-pipe", "--user-data-dir=" + t.TempDir(), "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "about:blank"}
	if os.Geteuid() == 0 { // its sandbox refuses root
		args = append([]string{"--no-sandbox"}, args...)
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &Browser{t: t, in: in, wait: map[int]chan answer{}, watched: map[string]func(event){}, dead: make(chan struct{})}
	go b.listen(out)
	t.Cleanup(func() {
		b.call("", "Browser.close", nil, nil)
		in.Close()
		select {
		case <-b.dead:
		case <-time.After(patience):
		}
		_ = cmd.Process.Kill() // gone already, as a rule
		_ = cmd.Wait()         // ended by us: its status says nothing
		out.Close()
	})
	return b
}

// listen gives answers to who waits for them, and events to who watches.
func (b *Browser) listen(out io.Reader) {
	defer close(b.dead)
	r := bufio.NewReader(out)
	for {
		raw, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var a answer
		if json.Unmarshal(raw[:len(raw)-1], &a) != nil {
			continue
		}
		if a.ID == 0 {
			b.happened(raw[:len(raw)-1])
			continue
		}
		b.mu.Lock()
		if c := b.wait[a.ID]; c != nil {
			delete(b.wait, a.ID)
			c <- a
		}
		b.mu.Unlock()
	}
}

func (b *Browser) call(session, method string, params, into any) error {
	c, err := b.send(session, method, params)
	if err != nil {
		return err
	}
	return b.heard(c, method, into)
}

// send asks for something without waiting for the answer.
func (b *Browser) send(session, method string, params any) (<-chan answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	c := make(chan answer, 1)
	msg := map[string]any{"id": b.next, "method": method}
	if params != nil {
		msg["params"] = params
	}
	if session != "" {
		msg["sessionId"] = session
	}
	raw, err := json.Marshal(msg)
	if err != nil {
		return nil, err
	}
	b.wait[b.next] = c
	_, err = b.in.Write(append(raw, 0))
	return c, err
}

// heard waits for an answer.
func (b *Browser) heard(c <-chan answer, method string, into any) error {
	select {
	case a := <-c:
		if a.Error != nil {
			return fmt.Errorf("%s: %s", method, a.Error.Message)
		}
		if into != nil {
			return json.Unmarshal(a.Result, into)
		}
		return nil
	case <-b.dead:
		return errors.New("the browser is gone")
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer", method)
	}
}

// Page is one tab with cookies of its own.
type Page struct {
	b       *Browser
	t       testing.TB
	session string
}

type params = map[string]any

// Open opens an address in a tab of a person of its own.
func (b *Browser) Open(address string) *Page {
	b.t.Helper()
	var context struct{ BrowserContextID string }
	var target struct{ TargetID string }
	var session struct{ SessionID string }
	err := b.call("", "Target.createBrowserContext", nil, &context)
	if err == nil {
		err = b.call("", "Target.createTarget", params{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target)
	}
	if err == nil {
		err = b.call("", "Target.attachToTarget", params{"targetId": target.TargetID, "flatten": true}, &session)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	p := &Page{b, b.t, session.SessionID}
	p.Go(address)
	return p
}

func (p *Page) call(method string, v, into any) {
	p.t.Helper()
	if err := p.b.call(p.session, method, v, into); err != nil {
		p.t.Fatal(err)
	}
}

// Go opens an address in the tab.
func (p *Page) Go(address string) {
	p.t.Helper()
	p.call("Page.navigate", params{"url": address}, nil)
}

// Eval is what an expression comes to on the page. While a page is left for
// another one there is none: that is no value.
func (p *Page) Eval(expression string, into any) bool {
	var out struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails json.RawMessage
	}
	err := p.b.call(p.session, "Runtime.evaluate", params{"expression": expression, "returnByValue": true}, &out)
	return err == nil && out.ExceptionDetails == nil && json.Unmarshal(out.Result.Value, into) == nil
}

// Text is what the page says.
func (p *Page) Text() (s string) {
	p.Eval(`document.readyState === "complete" ? document.body.innerText : ""`, &s)
	return s
}

// Until waits until an expression is true on the page.
func (p *Page) Until(expression string) {
	p.t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var ok bool
		if p.Eval(`document.readyState === "complete" && !!(`+expression+`)`, &ok) && ok {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			p.t.Fatalf("the page never came to %s; it says:\n%s", expression, p.Text())
		}
	}
}

// Sees waits until the page says something.
func (p *Page) Sees(text string) *Page {
	p.t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Until(`document.body.innerText.includes(` + string(raw) + `)`)
	return p
}

// key presses a key.
func (p *Page) key(name, code, text string, virtual int) {
	p.t.Helper()
	down := params{"type": "keyDown", "key": name, "code": code, "windowsVirtualKeyCode": virtual}
	if text != "" {
		down["text"] = text
	}
	p.call("Input.dispatchKeyEvent", down, nil)
	p.call("Input.dispatchKeyEvent", params{"type": "keyUp", "key": name, "code": code, "windowsVirtualKeyCode": virtual}, nil)
}

// named is what a person calls the element that has the focus, and whether
// they see that it has it.
const named = `(() => { const e = document.activeElement; const s = getComputedStyle(e);
	const name = e.getAttribute("aria-label") || (e.labels && e.labels.length ? e.labels[0].innerText : e.innerText) || e.id || e.tagName;
	return { name: name.trim(), seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2, body: e === document.body } })()`

// Tab goes to an element with the Tab key alone, and fails where the focus
// cannot be seen on the way.
func (p *Page) Tab(name string) *Page {
	p.t.Helper()
	var at struct {
		Name       string
		Seen, Body bool
	}
	for range 80 {
		p.key("Tab", "Tab", "", 9)
		if !p.Eval(named, &at) {
			continue
		}
		if !at.Seen && !at.Body {
			p.t.Errorf("the focus on %q cannot be seen", at.Name)
		}
		if at.Name == name {
			return p
		}
	}
	p.t.Fatalf("the Tab key does not lead to %q; the page says:\n%s", name, p.Text())
	return p
}

// Type types a text over what the field has.
func (p *Page) Type(text string) *Page {
	p.t.Helper()
	var ok bool
	p.Eval(`(document.activeElement.select && document.activeElement.select(), true)`, &ok)
	p.call("Input.insertText", params{"text": text}, nil)
	return p
}

// Enter presses the Enter key.
func (p *Page) Enter() *Page {
	p.t.Helper()
	p.key("Enter", "Enter", "\r", 13)
	return p
}

// Size makes the page so wide and high.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", params{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
}

// Dark lets the page think that the person likes it dark.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	p.call("Emulation.setEmulatedMedia", params{"features": []params{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// Picture is the whole page as PNG.
func (p *Page) Picture() []byte {
	p.t.Helper()
	var out struct{ Data string }
	p.call("Page.captureScreenshot", params{"format": "png", "captureBeyondViewport": true}, &out)
	raw, err := base64.StdEncoding.DecodeString(out.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return raw
}
