package archive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// checkName holds a name to what is a plain relative path on every system, and
// takes the slash off the name of a folder.
func checkName(x *entry) error {
	name := x.name
	if s, ok := strings.CutSuffix(name, "/"); ok {
		x.folder, name = true, s
	}
	bad := func(message string) error { return refuse("zip_name", x.name, "%s", message) }
	switch {
	case !utf8.ValidString(name):
		return bad("a name that is not UTF-8")
	case !ascii(name) && x.flags&flagUTF8 == 0:
		return bad("a name in an encoding that the archive does not say")
	case len(name) == 0 || len(name) > maxName:
		return bad("an empty name or one of more than 240 bytes")
	case !norm.NFC.IsNormalString(name):
		return bad("a name that is not in Unicode's composed form")
	case strings.Count(name, "/") >= maxDepth:
		return bad("a name in more than 16 folders")
	}
	for _, r := range name {
		if r == '\\' || r == ':' || strings.ContainsRune(`<>"|?*`, r) || !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) {
			return bad("a name with a character that some systems give a meaning, or that hides")
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return bad("a name that leads out of its folder or is not the shortest one")
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " "):
			return bad("a name with a dot or space at its end, which some systems drop")
		case device(part):
			return bad("a name that is a device on some systems")
		}
	}
	x.name = name
	return nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// device says whether a name is one that Windows reserves, with any suffix.
func device(part string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(part), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	rest, ok := strings.CutPrefix(stem, "com")
	if !ok {
		rest, ok = strings.CutPrefix(stem, "lpt")
	}
	return ok && utf8.RuneCountInString(rest) == 1 && strings.ContainsAny(rest, "0123456789¹²³")
}

// fold is equal for names that some file system takes for one: equal but for
// letter case, once composed.
func fold(name string) string {
	lowest := func(r rune) rune {
		low := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			low = min(low, f)
		}
		return low
	}
	return norm.NFC.String(strings.Map(lowest, name))
}
