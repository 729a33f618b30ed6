package lint

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pack"
)

// draftMarks are sentences that only the texts of a draft hold.
var draftMarks = map[string]string{
	pack.RoleLicense:       "Replace this text before you submit",
	pack.RoleDocumentation: "they\ncame with the tool and measure nothing",
}

// papers looks for texts that are still those of the draft.
func (l *linter) papers() error {
	for _, c := range l.m.Components {
		mark, rule := draftMarks[c.Role], map[string]string{pack.RoleLicense: "rights_draft", pack.RoleDocumentation: "readme_draft"}[c.Role]
		if mark == "" {
			continue
		}
		text, err := fs.ReadFile(l.fsys, c.Path) // validated: at most 1 MiB
		if err != nil {
			return fmt.Errorf("read %s: %w", c.Path, err)
		}
		if strings.Contains(string(text), mark) {
			l.add(rule, pack.Finding{Path: c.Path}, "the text is still that of the draft")
		}
	}
	return nil
}
