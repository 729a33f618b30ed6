package command

import (
	"encoding/json"
	"slices"
)

// Remembered is the names that this machine knows without asking anybody.
type Remembered struct{ *App }

// Names are the runs that were started from here, newest first, and what copies
// of the catalog name. Nothing known is no error.
func (r Remembered) Names(kind string) []string {
	if kind != "run" {
		return r.copied(kind)
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

// copied are the names in fresh copies of the catalog.
func (r Remembered) copied(kind string) (out []string) {
	p, err := r.Profile()
	if err != nil {
		return nil
	}
	cache, off := r.catalogCopies(p)
	if off {
		return nil
	}
	for body := range cache.Fresh() {
		var page struct {
			Data []struct{ ID, Slug, Version string }
		}
		if json.Unmarshal(body, &page) != nil {
			continue
		}
		for _, row := range page.Data {
			if name := map[bool]string{true: row.Slug, false: row.ID}[kind == "benchmark"]; name != "" && (row.Slug != "") == (kind == "benchmark") {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
