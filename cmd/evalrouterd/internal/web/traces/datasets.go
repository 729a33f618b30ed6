package traces

import (
	"net/http"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
)

const (
	shownSets     = 100
	shownItems    = 50
	shownVersions = 50
)

type setsBody struct {
	Rows []core.Dataset
	More bool
}

func (h *Handlers) sets(r *http.Request, v visit) (web.Shown, error) {
	rows, err := h.Datasets.Datasets(r.Context(), v.Scope, nil, shownSets+1)
	if err != nil {
		return web.Shown{}, err
	}
	b := setsBody{Rows: rows, More: len(rows) > shownSets}
	b.Rows = rows[:min(len(rows), shownSets)]
	return h.body("datasets", v, web.Shown{Title: "Datasets", Section: "/datasets"}, b)
}

type setBody struct {
	core.Dataset
	Review   string
	Items    []item
	More     bool
	Versions []core.DatasetVersion
}

// item is an item as the review queue shows it.
type item struct {
	core.DatasetItem
	Asks, Expects content
}

func (h *Handlers) set(r *http.Request, v visit) (web.Shown, error) {
	return h.oneSet(r, v, web.Shown{Good: saved(r)})
}

func (h *Handlers) oneSet(r *http.Request, v visit, s web.Shown) (web.Shown, error) {
	id := core.DatasetID(r.PathValue("id"))
	d, err := h.Datasets.Dataset(r.Context(), v.Scope, id)
	if err != nil {
		return web.Shown{}, err
	}
	b := setBody{Dataset: d, Review: r.URL.Query().Get("review")}
	switch b.Review {
	case "":
		b.Review = core.ReviewPending
	case core.ReviewPending, core.ReviewApproved, core.ReviewRejected:
	default:
		return web.Shown{}, core.Missing("page")
	}
	rows, err := h.Datasets.Items.Items(r.Context(), v.Scope, id, b.Review, nil, shownItems+1)
	if err != nil {
		return web.Shown{}, err
	}
	b.More = len(rows) > shownItems
	for _, x := range rows[:min(len(rows), shownItems)] {
		b.Items = append(b.Items, item{x, shownOf(x.Input, false), shownOf(x.Expected, false)})
	}
	if b.Versions, err = h.Datasets.Versions.Versions(r.Context(), v.Scope, id, 0, shownVersions); err != nil {
		return web.Shown{}, err
	}
	s.Title, s.Section = d.Name, "/datasets"
	return h.body("dataset", v, s, b)
}

// changeSet reviews an item or seals a version. A review is of the digest that
// the page showed: where the item is another by now, nothing is said of it.
func (h *Handlers) changeSet(r *http.Request, v visit) (web.Shown, error) {
	f, id := r.PostForm, core.DatasetID(r.PathValue("id"))
	var err error
	good := "Saved."
	switch f.Get("do") {
	case "approve", "reject":
		err = h.Datasets.Items.Review(r.Context(), v.Scope, id, core.Verdict{Item: core.ItemID(f.Get("item")), Digest: f.Get("digest"), Approved: f.Get("do") == "approve", Note: f.Get("note")})
	case "seal":
		var sealed core.DatasetVersion
		if sealed, err = h.Datasets.Versions.Seal(r.Context(), v.Scope, id, f.Get("note")); err == nil {
			good = "Version " + strconv.Itoa(sealed.Version) + " was sealed."
		}
	default:
		err = core.Refuse(core.InvalidRequest, "The form said nothing that is done here. Nothing was done.")
	}
	if text, ok := wrong(err); ok {
		return h.oneSet(r, v, web.Shown{Bad: text, Status: http.StatusUnprocessableEntity})
	}
	if err != nil {
		return web.Shown{}, err
	}
	return h.oneSet(r, v, web.Shown{Good: good})
}

type versionBody struct {
	core.DatasetVersion
	Name                    string
	Against                 int
	Added, Changed, Removed []core.ItemID
	Others                  []core.DatasetVersion
}

// version shows what was sealed, and what changed since another version.
func (h *Handlers) version(r *http.Request, v visit) (web.Shown, error) {
	id := core.DatasetID(r.PathValue("id"))
	n, err := strconv.Atoi(r.PathValue("version"))
	if err != nil {
		return web.Shown{}, core.Missing("version")
	}
	d, err := h.Datasets.Dataset(r.Context(), v.Scope, id)
	if err != nil {
		return web.Shown{}, err
	}
	b := versionBody{Name: d.Name, Against: n - 1}
	if b.DatasetVersion, err = h.Datasets.Versions.Version(r.Context(), v.Scope, id, n); err != nil {
		return web.Shown{}, err
	}
	if text := r.URL.Query().Get("against"); text != "" {
		if b.Against, err = strconv.Atoi(text); err != nil {
			return web.Shown{}, core.Missing("version")
		}
	}
	if b.Against > 0 && b.Against != n {
		if b.Added, b.Changed, b.Removed, err = h.Datasets.Versions.Difference(r.Context(), v.Scope, id, b.Against, n); err != nil {
			return web.Shown{}, err
		}
	}
	if b.Others, err = h.Datasets.Versions.Versions(r.Context(), v.Scope, id, 0, shownVersions); err != nil {
		return web.Shown{}, err
	}
	return h.body("version", v, web.Shown{Title: d.Name + ", version " + strconv.Itoa(n), Section: "/datasets"}, b)
}
