package webtest

import (
	_ "embed"
	"fmt"
)

//go:embed look.js
var look string

// Look says what a person would stumble over on the page that is open, at a width
// and with light or dark colours: what lies beyond the edge or scrolls without the
// keyboard, text and controls that stand out too little, fields and links without
// a name, and ids and first headings that are there twice.
func (p *Page) Look(width int, dark bool) (faults []string) {
	p.t.Helper()
	p.Size(width, 900)
	p.Dark(dark)
	p.Until(fmt.Sprintf(`window.innerWidth === %d && matchMedia("(prefers-color-scheme: dark)").matches === %v && (window.looked || %s, true)`, width, dark, look))
	if !p.Eval(`looked.look()`, &faults) {
		p.t.Fatalf("the page cannot be looked at; it says:\n%s", p.Text())
	}
	return faults
}

// Tabbed says, after Look, what the Tab key does not lead to, or leads to without a
// mark. It is pressed until it has been everywhere, from wherever it is. What is
// missed is looked for once more: the page and the browser are stops too, and so is
// whatever scrolls.
func (p *Page) Tabbed() (faults []string) {
	p.t.Helper()
	for range 2 {
		var n int
		p.Eval(`looked.begin()`, &n)
		p.tabs(n + 3)
		if !p.Eval(`looked.tabbed()`, &faults) {
			p.t.Fatal("the page was left while the Tab key was pressed")
		}
		if len(faults) == 0 {
			break
		}
	}
	return faults
}

// tabs presses the Tab key so often. The browser takes the keys one after another;
// waiting for each answer would only make it idle.
func (p *Page) tabs(n int) {
	p.t.Helper()
	const method = "Input.dispatchKeyEvent"
	var sent []<-chan answer
	for range n {
		c, err := p.b.send(p.session, method, params{"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
		if err != nil {
			p.t.Fatal(err)
		}
		sent = append(sent, c)
	}
	for _, c := range sent {
		if err := p.b.heard(c, method, nil); err != nil {
			p.t.Fatal(err)
		}
	}
}
