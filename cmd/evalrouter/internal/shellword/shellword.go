// Package shellword writes words so that they can be pasted into the shell that
// people have in front of them: PowerShell on Windows, a POSIX shell elsewhere.
// A word with a double quote in it needs PowerShell 7.3 or later, which is the
// first that hands such a word on as it is.
package shellword

import "strings"

const windows = "windows"

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// Quote is a word for the shell of a system, named as Go spells it. Words that
// no shell reads as something else stay as they are.
func Quote(system, w string) string {
	if system == windows {
		return powershell(w)
	}
	if w != "" && strings.Trim(w, letters+"._:@+-/=,%") == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Continue ends a line of a command that goes on in the next one.
func Continue(system string) string {
	if system == windows {
		return " `"
	}
	return ` \`
}

// powershell quotes for PowerShell. A comma makes a list there, an @ in front a
// splat, and a word that begins with a dash is cut at a full stop or a colon.
// It takes typographic quotes for quotes too, and each is escaped by itself.
func powershell(w string) string {
	bare := w != "" && strings.Trim(w, letters+`._:+-/=\`) == ""
	if bare && !(w[0] == '-' && strings.ContainsAny(w, ".:")) {
		return w
	}
	var b strings.Builder
	for _, r := range w {
		if strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) {
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	return "'" + b.String() + "'"
}
