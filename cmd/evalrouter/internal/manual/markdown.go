package manual

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// Markdown is the reference part of docs/cli.md.
func Markdown(root *argv.Command, exit func(Problem) int) string {
	var b strings.Builder
	b.WriteString("## Flags of every command\n\n")
	markFlags(&b, append(flags(root.Shared), flags(root.Flags)...))
	b.WriteString("## Commands\n\n")
	each(root, func(path []*argv.Command) {
		if c := path[len(path)-1]; len(path) > 1 && c.Exec != nil {
			markCommand(&b, words(path), c)
		}
	})
	b.WriteString("## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, e := range Exits() {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, cell(e.Meaning))
	}
	b.WriteString("\n## Environment variables\n\n| variable | flag | meaning |\n|---|---|---|\n")
	for _, v := range Variables() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, code(v.Flag), cell(v.Meaning))
	}
	b.WriteString("\n## Error codes\n\n| code | exit | cause | money | next |\n|---|---|---|---|---|\n")
	for _, p := range Problems() {
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %s |\n", p.Code, exit(p), cell(p.Cause), cell(p.Money), cell(p.Next))
	}
	return b.String()
}

func markCommand(b *strings.Builder, name string, c *argv.Command) {
	fmt.Fprintf(b, "### %s\n\n%s.\n\n    %s\n\n", name, c.Short, strings.TrimSpace(name+" "+c.Args))
	if c.Long != "" {
		paragraph, indented := "", false
		for line := range strings.Lines(c.Long) {
			in := strings.HasPrefix(line, "  ")
			if in != indented && paragraph != "" && !strings.HasSuffix(paragraph, "\n\n") {
				paragraph += "\n"
			}
			if indented = in; in {
				line = "  " + line
			} else {
				line = escape(line)
			}
			paragraph += line
		}
		b.WriteString(strings.TrimRight(paragraph, "\n") + "\n\n")
	}
	markFlags(b, flags(c.Flags))
	for i, e := range c.Examples {
		if i == 0 {
			b.WriteString("For example:\n\n")
		}
		b.WriteString("    " + e + "\n")
	}
	if len(c.Examples) > 0 {
		b.WriteString("\n")
	}
}

func markFlags(b *strings.Builder, list []Flag) {
	if len(list) == 0 {
		return
	}
	b.WriteString("| flag | what |\n|---|---|\n")
	for _, f := range list {
		name := strings.TrimSpace(f.Name + " " + f.Value)
		if f.Short != "" {
			name = f.Short + ", " + name
		}
		fmt.Fprintf(b, "| %s | %s |\n", code(name), cell(f.Usage))
	}
	b.WriteString("\n")
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}

func cell(s string) string { return escape(strings.ReplaceAll(s, "|", `\|`)) }

func escape(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`).Replace(s)
}
