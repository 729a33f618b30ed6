package web_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance of a colour, as WCAG 2 defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil || len(hex) != 7 {
		t.Fatalf("not a colour: %q", hex)
	}
	part := func(c uint64) float64 {
		v := float64(c&0xFF) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(n>>16) + 0.7152*part(n>>8) + 0.0722*part(n)
}

// TestStyle_Contrast: text stands out by 4.5 to 1 and what marks a control by
// 3 to 1, in both palettes.
func TestStyle_Contrast(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	palettes := regexp.MustCompile(`:root \{[^}]+\}`).FindAllString(string(css), -1)
	if len(palettes) != 2 {
		t.Fatalf("%d palettes", len(palettes))
	}
	for i, p := range palettes {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(p, -1) {
			colours[m[1]] = m[2]
		}
		for _, pair := range []struct {
			on, under string
			least     float64
		}{
			{"ink", "paper", 7}, {"ink", "soft", 7}, {"muted", "paper", 4.5}, {"muted", "soft", 4.5}, {"accent", "paper", 4.5}, {"accent", "soft", 4.5}, {"on-accent", "accent", 4.5},
			{"bad", "paper", 4.5}, {"bad", "soft", 4.5}, {"good", "paper", 4.5}, {"good", "soft", 4.5}, {"line", "paper", 3},
		} {
			a, b := luminance(t, colours[pair.on]), luminance(t, colours[pair.under])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < pair.least {
				t.Errorf("palette %d: %s on %s is %.2f to 1, want %.1f", i+1, pair.on, pair.under, ratio, pair.least)
			}
		}
	}
	// No colour stands outside of the palettes, where this test would not see it.
	if rest := regexp.MustCompile(`:root \{[^}]+\}`).ReplaceAllString(string(css), ""); regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgb|hsl`).MatchString(rest) {
		t.Error("a colour stands outside of the palettes")
	}
}

// TestPages_Accessible: everything that is filled in has a label, every page a
// title, a language, a place to skip to, and one heading of the first kind.
func TestPages_Accessible(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	b := h.owner("ada")
	for _, path := range []string{"/login?again=1", "/register", "/setup", "/device", "/settings", "/settings/sign-ins", "/settings/members", "/settings/api-keys", "/settings/billing", authorize()} {
		b.get(path)
		for _, want := range []string{`<html lang="en">`, `<title>`, `href="#main"`, `<main id="main"`, `name="viewport"`} {
			if !strings.Contains(b.html, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
		if n := strings.Count(b.html, "<h1>"); n != 1 {
			t.Errorf("%s has %d first headings", path, n)
		}
		for _, tag := range regexp.MustCompile(`<(?:input|select)[^>]*>`).FindAllString(b.html, -1) {
			id := regexp.MustCompile(` id="([^"]+)"`).FindStringSubmatch(tag)
			switch {
			case strings.Contains(tag, `type="hidden"`), strings.Contains(tag, "aria-label="), strings.Contains(tag, `type="checkbox"`) && strings.Contains(b.html, `<label class="check">`+tag):
			case id == nil || !strings.Contains(b.html, `<label for="`+id[1]+`">`):
				t.Errorf("%s: no label for %s", path, tag)
			}
		}
		if regexp.MustCompile(`tabindex="[1-9]`).MatchString(b.html) || strings.Contains(b.html, "autofocus") {
			t.Errorf("%s changes the order of the keyboard", path)
		}
	}
}
