package command

import (
	"runtime"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/viewer"
)

// Viewer opens pages and files for the person in front; off forbids it.
func (a *App) Viewer(off bool) *viewer.Viewer {
	return &viewer.Viewer{OS: runtime.GOOS, Env: a.Term.Env, Start: a.Start, Off: off}
}

// PageOf is the page on which a run can be watched and read, "" where the
// service has none.
func PageOf(r api.RunRecord) string {
	for _, link := range []*string{r.Links.Live, r.Links.Report} {
		if link != nil && *link != "" {
			return *link
		}
	}
	return ""
}
