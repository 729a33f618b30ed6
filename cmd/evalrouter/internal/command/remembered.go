package command

import (
	"slices"
)

// Remembered is the names that this machine knows without asking anybody.
type Remembered struct{ *App }

// Names are the runs that were started from here, newest first, and what copies
// of the catalog name. Nothing known is no error.
func (r Remembered) Names(kind string) []string {
	if kind != "run" {
		return nil
	}
	j, err := r.Journal()
	if err != nil {
		return nil
	}
	ids := j.RunIDs()
	n := Unique(ids, func(id string) string { return id })
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, id[:min(n, len(id))])
	}
	return slices.Compact(out)
}
