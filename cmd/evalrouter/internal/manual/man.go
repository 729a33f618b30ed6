package manual

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// Man makes the man pages of a tree, by file name. They are plain man(7), which
// every man program reads.
func Man(root *argv.Command) map[string]string {
	out := map[string]string{}
	each(root, func(path []*argv.Command) {
		out[strings.ReplaceAll(words(path), " ", "-")+".1"] = manPage(root, path)
	})
	return out
}

func manPage(root *argv.Command, path []*argv.Command) string {
	c, name := path[len(path)-1], words(path)
	file := strings.ReplaceAll(name, " ", "-")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"EvalRouter\" \"EvalRouter manual\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n%s\n", roff(strings.ToUpper(file)), roff(file), roff(lower(c.Short)), roff(name), roff(c.Args))
	if c.Long != "" || len(c.Sub) > 0 {
		b.WriteString(".SH DESCRIPTION\n")
		manText(&b, c.Long)
	}
	for _, s := range c.Sub {
		if !s.Hidden {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s.\n", roff(s.Name), roff(s.Short))
		}
	}
	manFlags(&b, "OPTIONS", flags(c.Flags))
	manFlags(&b, "OPTIONS OF EVERY COMMAND", flags(root.Shared))
	if len(c.Examples) > 0 {
		b.WriteString(".SH EXAMPLES\n.nf\n")
		for _, e := range c.Examples {
			b.WriteString(roff(e) + "\n")
		}
		b.WriteString(".fi\n")
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range Exits() {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s.\n", e.Code, roff(e.Meaning))
	}
	if len(path) == 1 {
		b.WriteString(".SH ENVIRONMENT\n")
		for _, v := range Variables() {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s.\n", roff(v.Name), roff(v.Meaning))
		}
	}
	b.WriteString(".SH SEE ALSO\n" + roff(related(path)) + "\n")
	return b.String()
}

// related names the pages above and below.
func related(path []*argv.Command) string {
	var out []string
	for i := 1; i < len(path); i++ {
		out = append(out, strings.ReplaceAll(words(path[:i]), " ", "-")+"(1)")
	}
	for _, s := range path[len(path)-1].Sub {
		if !s.Hidden {
			out = append(out, strings.ReplaceAll(words(path)+" "+s.Name, " ", "-")+"(1)")
		}
	}
	return strings.Join(out, ", ")
}

func manFlags(b *strings.Builder, title string, list []Flag) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	for _, f := range list {
		head := "\\fB" + roff(f.Name) + "\\fR"
		if f.Short != "" {
			head = "\\fB" + roff(f.Short) + "\\fR, " + head
		}
		if f.Value != "" {
			head += " \\fI" + roff(f.Value) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s.\n", head, roff(f.Usage))
	}
}

// manText writes paragraphs; indented lines stand as they are.
func manText(b *strings.Builder, text string) {
	verbatim := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if in := strings.HasPrefix(line, "  "); in != verbatim && line != "" {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[in])
			verbatim = in
		}
		if line == "" {
			line = ".PP"
			if verbatim {
				line = ".sp"
			}
			b.WriteString(line + "\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	if verbatim {
		b.WriteString(".fi\n")
	}
}

// roff writes text so that nothing in it is a request or an escape.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

func lower(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
