// Package handbook reads what the documents tell a reader to type: the indented
// blocks of a page of docs, each under its heading. Blocks between fences are
// code of another language and are not read.
package handbook

import (
	"slices"
	"strings"
)

// Block is one indented block, without its indentation.
type Block struct {
	Heading string // of the second level, "" before the first
	Text    string
}

// Blocks are those of a page in their order.
func Blocks(page string) (all []Block) {
	var b Block
	var lines []string
	fenced := false
	for _, l := range append(strings.Split(page, "\n"), "") {
		if strings.HasPrefix(l, "```") {
			fenced = !fenced
		}
		if code, ok := strings.CutPrefix(l, "    "); ok && !fenced {
			lines = append(lines, code)
			continue
		}
		if len(lines) > 0 {
			all = append(all, Block{b.Heading, strings.Join(lines, "\n")})
			lines = nil
		}
		if title, ok := strings.CutPrefix(l, "## "); ok && !fenced {
			b.Heading = title
		}
	}
	return all
}

// Script is what a reader types who follows the given headings, or the whole
// page, from the top.
func Script(page string, headings ...string) string {
	var parts []string
	for _, b := range Blocks(page) {
		if len(headings) == 0 || slices.Contains(headings, b.Heading) {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n") + "\n"
}
