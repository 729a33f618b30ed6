// Package export writes a run as lm-eval does: a results file and a samples
// file, with its names, hashes and keys.
//
// What lm-eval has no place for is left out: tasks without a value are in the
// counts of the results file only.
package export

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Hashes identifies one sample. All are SHA-256 in lower-case hex.
type Hashes struct{ Doc, Prompt, Target string }

// HashSample hashes a document as JSON, its first prompt and its target as
// Python writes it. A document that JSON cannot hold raises TypeError.
func HashSample(doc any, prompt string, target any) (Hashes, error) {
	text, err := value.Dump{Indent: 2, Unicode: true}.Dumps(doc)
	if err != nil {
		return Hashes{}, err
	}
	return Hashes{digest(text), digest(prompt), digest(value.Str(target))}, nil
}

// TaskHash is one hash over the samples of a task, in order.
func TaskHash(samples []Hashes) string {
	var b strings.Builder
	for _, s := range samples {
		b.WriteString(s.Doc)
		b.WriteString(s.Prompt)
		b.WriteString(s.Target)
	}
	return digest(b.String())
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// ModelName is a model name as a folder: each run of characters that a file
// name cannot have becomes two underscores.
func ModelName(name string) string {
	var b strings.Builder
	inside := false
	for _, r := range name {
		bad := strings.ContainsRune("\"<>:/|\\?*[]", r)
		switch {
		case bad && !inside:
			b.WriteString("__")
		case !bad:
			b.WriteRune(r)
		}
		inside = bad
	}
	return b.String()
}

// TaskName is a task name in a file name: every character that is no word
// character becomes one underscore.
func TaskName(name string) string {
	var b []byte
	for _, r := range str.Runes(name) {
		if !str.Of(r).Word() {
			r = '_'
		}
		b = str.AppendRune(b, r)
	}
	return string(b)
}
