package argv

import (
	"fmt"
	"strings"
)

// column is where the explanation of a flag or command starts.
const column = 30

// shortLines is how long a short page may be: a terminal has no more.
const shortLines = 24

// Help is the help page of the last command of path. The short page fits a
// terminal of 24 lines, with as many examples as that leaves room for; all adds
// the rare flags, those that every command has, and the other examples.
func Help(path []*Command, all bool) string {
	c := path[len(path)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n  %s\n", c.Short, strings.TrimSpace(names(path)+" "+c.Args))
	if c.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Long)
	}
	if rows := commandRows(c); len(rows) > 0 {
		section(&b, "Commands", rows)
	}
	own, rare := flagRows(c.Flags)
	if c.Shared != nil {
		top, more := flagRows(c.Shared)
		own, rare = append(top, own...), append(more, rare...)
	}
	if len(own) > 0 {
		section(&b, "Flags", own)
	}
	if all {
		if len(rare) > 0 {
			section(&b, "More flags", rare)
		}
		if len(path) > 1 {
			section(&b, "Flags of every command", sharedRows(path[0]))
		}
	}
	if len(c.Examples) > 0 {
		shown := c.Examples
		if room := shortLines - strings.Count(b.String(), "\n") - 4; !all && len(path) > 1 { // the title and the last line stand apart
			shown = shown[:min(len(shown), max(1, room))]
		}
		b.WriteString("\nExamples\n")
		for _, e := range shown {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	fmt.Fprintf(&b, "\nEvery flag: add --all    Exit codes: %s help exit\n", path[0].Name)
	return b.String()
}

func section(b *strings.Builder, title string, rows [][2]string) {
	fmt.Fprintf(b, "\n%s\n", title)
	for _, r := range rows {
		head := "  " + r[0]
		if len(head) > column-2 && r[1] != "" {
			fmt.Fprintf(b, "%s\n", head)
			head = ""
		}
		fmt.Fprintf(b, "%-*s%s\n", column, head, r[1])
	}
}

func commandRows(c *Command) (rows [][2]string) {
	for _, s := range c.Sub {
		if !s.Hidden {
			rows = append(rows, [2]string{s.Name, lowerFirst(s.Short)})
		}
	}
	return rows
}

func flagRows(fs *Flags) (own, rare [][2]string) {
	if fs == nil {
		return nil, nil
	}
	for _, f := range fs.list {
		if f.More {
			rare = append(rare, f.row())
		} else {
			own = append(own, f.row())
		}
	}
	return own, rare
}

func sharedRows(root *Command) [][2]string {
	own, rare := flagRows(root.Shared)
	return append(own, rare...)
}

func (g *Flag) row() [2]string {
	name := "--" + g.Long
	if g.Short != 0 {
		name = "-" + string(g.Short) + ", " + name
	}
	if g.Value != "" {
		name += " " + g.Value
	}
	return [2]string{name, g.Usage}
}

func lowerFirst(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
