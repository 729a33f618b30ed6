package draft7

import "testing"

// Results are those of urllib.parse.
func TestJoin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, base, ref, want string }{
		{"no base", "", "#/a", "#/a"},
		{"no reference", "http://x.y/a#b", "", "http://x.y/a#b"},
		{"fragment", "http://x.y/a.json#old", "#/new", "http://x.y/a.json#/new"},
		{"sibling", "http://x.y/d/a.json", "b.json", "http://x.y/d/b.json"},
		{"parent", "http://x.y/d/e/a.json", "../b.json", "http://x.y/d/b.json"},
		{"above the root", "http://x.y/a", "../../b", "http://x.y/b"},
		{"absolute path", "http://x.y/d/a", "/b", "http://x.y/b"},
		{"other host", "http://x.y/d/a", "//z.w/b", "http://z.w/b"},
		{"other scheme", "http://x.y/a", "urn:q", "urn:q"},
		{"base that nothing is relative to", "urn:q", "#/a", "#/a"},
		{"query", "http://x.y/a?q=1", "?r", "http://x.y/a?r"},
		{"query kept", "http://x.y/a?q=1", "#f", "http://x.y/a?q=1#f"},
		{"directory", "http://x.y/d/", "item", "http://x.y/d/item"},
		{"dot at the end", "http://x.y/d/a", ".", "http://x.y/d/"},
		{"relative base", "item", "#/a", "item#/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := join(c.base, c.ref); got != c.want {
				t.Errorf("join(%q, %q) = %q, want %q", c.base, c.ref, got, c.want)
			}
		})
	}
}

func TestUnquote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a%20b": "a b", "%": "%", "%4": "%4", "%zz": "%zz", "%C3%A9": "é", "%ff": "\uFFFD", "%%41": "%A"} {
		if got := unquote(in); got != want {
			t.Errorf("unquote(%q) = %q, want %q", in, got, want)
		}
	}
}
