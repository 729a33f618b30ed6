package manual

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/flow"
)

// otherVariables are variables of the product's other programs.
func otherVariables() []string {
	return []string{"EVALROUTER_TRACE_KEY", "EVALROUTER_TRACE_CONNECTION_ID", "EVALROUTER_DATABASE", "EVALROUTER_TEST_BIN", "EVALROUTER_TEST_PG", "EVALROUTER_SHARED"}
}

// Misspelt is the variable that an unknown name was probably meant to be, ""
// for names that are known or not ours.
func Misspelt(name string) string {
	if !strings.HasPrefix(name, "EVALROUTER_") || slices.Contains(otherVariables(), name) {
		return ""
	}
	var known []string
	for _, v := range Variables() {
		if v.Name == name {
			return ""
		}
		if strings.HasPrefix(v.Name, "EVALROUTER_") {
			known = append(known, v.Name)
		}
	}
	if near := flow.Suggest(name, known); len(near) > 0 {
		return near[0]
	}
	return "one of evalrouter help env"
}
