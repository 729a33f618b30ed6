package web_test

import (
	"regexp"
	"strings"
	"testing"
)

// A forgotten password is replaced with a mailed code, in the browser that asked,
// once. Whether an address has an account shows in the mail alone.
func TestForgotten(t *testing.T) {
	t.Parallel()
	h := newHouse(t, true)
	codes := regexp.MustCompile(`[A-Z]{4}-[A-Z]{4}`)
	old := h.browser()
	old.get("/register").fill("/register", "email", "ada@example.org", "name", "Ada", "password", pw)
	old.fill("/verify", "code", codes.FindString(h.mails[0].text)).fill("/setup", "name", "Ada's")
	h.now.Add(60_000_000)

	b, stranger := h.browser(), h.browser()
	b.get("/login").sees(200, "Forgotten the password?")
	b.get("/forgotten").fill("/forgotten", "email", "nobody@example.org").sees(200, "Another password", "nobody@example.org")
	none, page := h.mails[len(h.mails)-1], strings.ReplaceAll(b.html, "nobody@example.org", "X")
	if none.to != "nobody@example.org" || codes.MatchString(none.text) || !strings.Contains(none.text, "no account") {
		t.Errorf("the mail to who has no account: %+v", none)
	}
	b.get("/forgotten").fill("/forgotten", "email", " Ada@Example.org").sees(200, "Another password")
	mailed := h.mails[len(h.mails)-1]
	code := codes.FindString(mailed.text)
	if mailed.to != "ada@example.org" || code == "" {
		t.Fatalf("the mail: %+v", mailed)
	}
	if got := strings.ReplaceAll(b.html, "ada@example.org", "X"); got != page {
		t.Errorf("the page tells who has an account:\n%s\n%s", got, page)
	}
	stranger.get("/forgotten").fill("/forgotten", "email", "eve@example.org")
	stranger.fill("/reset", "code", code, "password", "a password of theirs").sees(422, "not the code that was mailed")
	b.fill("/reset", "code", code, "password", "short").sees(422, "at least 10")
	b.fill("/reset", "code", "XXXX-XXXX", "password", "another password").sees(422, "not the code that was mailed")
	b.fill("/reset", "code", strings.ToLower(code), "password", "another password").sees(200, "Profile", "ada@example.org")
	old.get("/settings").sees(200, "Sign in") // every other browser is signed out
	old.get("/login").fill("/login", "email", "ada@example.org", "password", pw).sees(422, "do not fit")
	old.get("/login").fill("/login", "email", "ada@example.org", "password", "another password").sees(200, "Profile")
	h.browser().get("/reset").sees(200, "Forgotten password") // nothing was asked there
}

func TestForgotten_Bounds(t *testing.T) {
	t.Parallel()
	h := newHouse(t, true)
	codes := regexp.MustCompile(`[A-Z]{4}-[A-Z]{4}`)
	b := h.browser()
	b.get("/register").fill("/register", "email", "ada@example.org", "name", "Ada", "password", pw)
	b.fill("/verify", "code", codes.FindString(h.mails[0].text))
	h.now.Add(60_000_000)
	ask := func(b *browser) string {
		b.get("/forgotten").fill("/forgotten", "email", "ada@example.org").sees(200, "Another password")
		return codes.FindString(h.mails[len(h.mails)-1].text)
	}
	guesser := h.browser()
	code := ask(guesser)
	h.browser().get("/forgotten").fill("/forgotten", "email", "ada@example.org").sees(429, "A mail went to this address a moment ago")
	for range 5 {
		guesser.fill("/reset", "code", "XXXX-XXXX", "password", "another password").sees(422, "not the code")
	}
	guesser.fill("/reset", "code", code, "password", "another password").sees(422, "not the code")
	h.now.Add(60_000_000)
	late := h.browser()
	code = ask(late)
	h.now.Add(3600 * 1_000_000)
	late.fill("/reset", "code", code, "password", "another password").sees(200, "Forgotten password")
}

// Without mail the page says who helps.
func TestForgotten_WithoutMail(t *testing.T) {
	t.Parallel()
	newHouse(t, false).browser().get("/forgotten").sees(200, "sends no mail", "evalrouterd accounts password")
}
