package daemon

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/bundle/manifests"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/audit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sqlite"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// withData opens an installation for one command. A running daemon may share
// it.
func withData(ctx context.Context, p place, do func(*open) error) error {
	return inspect(ctx, p, func(o *open) error {
		if err := o.stays(ctx); err != nil {
			return err
		}
		return do(o)
	})
}

// inspect is withData for a command that only reads: one that has moved can
// still be looked at.
func inspect(ctx context.Context, p place, do func(*open) error) error {
	d, err := p.find()
	if err != nil {
		return err
	}
	if p.postgres == "" {
		stands, err := sqlite.Stands(ctx, d.path(databaseFile))
		if err != nil {
			return d.explain(err)
		}
		if !stands {
			return refuse("installation_missing", "%s holds no installation; nothing was done. Check --data, or begin one there with 'evalrouterd catalog add', 'evalrouterd local' or 'evalrouterd serve'", d.path(databaseFile))
		}
	} else {
		stands, err := store.Stands(ctx, p.postgres)
		switch {
		case err != nil:
			return unreachable(p.postgres, err)
		case !stands:
			return refuse("installation_missing", "there is no installation in %s; nothing was done. Check the address, or begin one there with 'evalrouterd serve' or 'evalrouterd migrate-to'", postgres.Shown(p.postgres))
		}
	}
	return p.with(ctx, d, do)
}

// withNewData is withData for the command that newcomers begin with: it makes
// an installation where there is none, and says so.
func withNewData(ctx context.Context, sys System, p place, do func(*open) error) error {
	d, err := p.find()
	if err != nil {
		if d, err = openDir(p.dir); err != nil {
			return err
		}
		fmt.Fprintf(sys.Stderr, "evalrouterd: there was no installation in %s; one is begun\n", d)
	}
	return p.with(ctx, d, func(o *open) error {
		if err := o.stays(ctx); err != nil {
			return err
		}
		return do(o)
	})
}

// member finds a workspace, or says which ones there are.
func (o *open) member(ctx context.Context, id string) (core.WorkspaceInfo, error) {
	w, err := o.store.Workspace(ctx, core.WorkspaceID(id))
	if !errors.Is(err, &core.Refusal{Code: core.NotFound}) {
		return w, err
	}
	all, err := o.store.WorkspaceIDs(ctx)
	if err != nil {
		return w, err
	}
	if len(all) == 0 {
		return w, refuse("not_found", "there is no workspace yet; nothing was done. 'evalrouterd local' makes the workspace local, 'evalrouterd serve' the workspace main")
	}
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = string(w)
	}
	return w, refuse("not_found", "there is no such workspace here; nothing was done. There is: %s", strings.Join(names, ", "))
}

func catalogAddCommand(f *flagSet) action {
	data := f.data()
	manifest := f.StringLong("manifest", "", "manifest `FILE`, or the name of a shipped one: "+strings.Join(shipped(), ", "))
	file := f.StringLong("file", "", "data `FILE` that the manifest describes")
	slug := f.StringLong("generate", "", "draw a generated benchmark `SLUG` instead")
	seed := f.Uint64Long("seed", builtin.DefaultSeed, "`SEED` of the draw")
	tasks := f.IntLong("tasks", builtin.DefaultSize, "`NUMBER` of tasks of the draw")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		if (*slug == "") == (*manifest == "" && *file == "") || (*slug == "" && (*manifest == "" || *file == "")) {
			return refuse("invalid_input", "give --manifest and --file, or --generate; nothing was added")
		}
		if *slug != "" {
			return generate(ctx, sys, at, *slug, *seed, *tasks)
		}
		return addFile(ctx, sys, at, *manifest, *file)
	}
}

// maxDraw bounds a generated benchmark.
const maxDraw = 1_000_000

func generate(ctx context.Context, sys System, at place, slug string, seed uint64, n int) error {
	if n < 1 || n > maxDraw {
		return refuse("invalid_input", "a draw has 1 to %d tasks; nothing was added", maxDraw)
	}
	return withNewData(ctx, sys, at, func(o *open) error {
		p, err := o.catalog.Generate(ctx, slug, seed, n)
		if err != nil {
			return err
		}
		printProfile(sys.Stdout, p, "ready")
		return nil
	})
}

func addFile(ctx context.Context, sys System, at place, manifest, file string) error {
	m, err := readManifest(manifest)
	if err != nil {
		return err
	}
	return withNewData(ctx, sys, at, func(o *open) error {
		added, err := o.catalog.Add(ctx, m, func() (io.ReadCloser, error) { return os.Open(file) })
		var bad *bundle.Refusal
		var one *bundle.Finding
		switch {
		case errors.As(err, &bad):
			return refuse("manifest_invalid", "%s\nNothing was added", findings(bad))
		case errors.As(err, &one):
			return refuse("manifest_invalid", "%s\nNothing was added", one)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return refuse("invalid_input", "the data file %s cannot be read: %s; nothing was added", file, reason(err))
		case err != nil:
			return err
		}
		state := "added"
		if !added.Made {
			state = "was there already"
		}
		printProfile(sys.Stdout, added.Profile, state)
		return nil
	})
}

// readManifest reads a file, or a manifest that ships with the program when
// there is no such file.
func readManifest(name string) (bundle.Manifest, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && slices.Contains(shipped(), name) {
		var own fs.File
		if own, err = manifests.FS().Open(name + ".json"); err == nil {
			defer own.Close()
			return bundle.ReadManifest(own)
		}
	}
	if err != nil {
		return bundle.Manifest{}, refuse("invalid_input", "the manifest %s cannot be read: %s; nothing was added", name, reason(err))
	}
	defer f.Close()
	m, err := bundle.ReadManifest(f)
	var bad *bundle.Refusal
	if errors.As(err, &bad) {
		return m, refuse("manifest_invalid", "%s\nNothing was added", findings(bad))
	}
	return m, err
}

// shipped names the manifests that come with the program.
func shipped() []string {
	all, err := fs.Glob(manifests.FS(), "*.json")
	if err != nil {
		panic(err) // the pattern is well formed
	}
	for i, name := range all {
		all[i] = strings.TrimSuffix(name, ".json")
	}
	return all
}

const maxFindings = 20

func findings(r *bundle.Refusal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the %s was refused:", r.What)
	for i, f := range r.Findings {
		if i == maxFindings {
			fmt.Fprintf(&b, "\n  and %d more", len(r.Findings)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s", f.Error())
	}
	return b.String()
}

func printProfile(w io.Writer, p core.Profile, state string) {
	fmt.Fprintf(w, "%s %s\n", p.ID, state)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  tasks\t%d\n", p.TaskCount)
	fmt.Fprintf(t, "  data sha256\t%s\n", p.DatasetSHA256)
	fmt.Fprintf(t, "  tasks sha256\t%s\n", p.PopulationSHA256)
	fmt.Fprintf(t, "  licence\t%s\n", orNone(p.Licence.Data))
	if p.Source.URL != "" {
		fmt.Fprintf(t, "  source\t%s %s\n", p.Source.URL, p.Source.Revision)
	}
	t.Flush() // writes to w, whose errors are not ours to report
}

func orNone(s string) string {
	if s == "" {
		return "none given"
	}
	return s
}

func catalogListCommand(f *flagSet) action {
	data := f.data()
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error {
			if err := o.catalog.Install(ctx); err != nil {
				return err
			}
			all, err := o.catalog.Profiles(ctx, core.Scope{})
			if err != nil {
				return err
			}
			t := tabwriter.NewWriter(sys.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "ID\tTASKS\tSTATUS\tLICENCE\tNAME")
			for _, p := range all {
				fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", p.ID, p.TaskCount, p.Status, orNone(p.Licence.Data), p.Name)
			}
			return t.Flush()
		})
	}
}

func creditsGrantCommand(f *flagSet) action {
	data, note := f.data(), f.StringLong("note", "", "why, a `TEXT` for the ledger")
	return func(ctx context.Context, sys System, operands []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		amount, err := usd.Parse(operands[1])
		if err != nil || amount == 0 {
			return refuse("invalid_input", "an amount is US dollars such as 25, 1000 or 0.50, without separators between thousands; nothing was granted")
		}
		return withData(ctx, at, func(o *open) error {
			info, err := o.member(ctx, operands[0])
			if err != nil {
				return err
			}
			w := info.ID
			if err := o.store.Grant(ctx, newID(), w, core.CreditBook, amount, *note); err != nil {
				return err
			}
			c, err := o.store.Credits(ctx, w, core.CreditBook)
			if err != nil {
				return err
			}
			fmt.Fprintf(sys.Stdout, "%s granted to %s; available %s, held %s\n", grouped(amount), w, grouped(c.Available), grouped(c.Held))
			return nil
		})
	}
}

// grouped shows an amount with separators between thousands: a zero too many
// is seen.
func grouped(m usd.Micro) string {
	text := m.String()
	start, end := strings.IndexByte(text, '$')+1, strings.IndexByte(text, '.')
	for i := end - 3; i > start; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// keysResetCommand makes a master key in the place of one that is lost.
func keysResetCommand(f *flagSet) action {
	data := f.data()
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error {
			lock, err := o.dir.takeLock() // a running service holds the old key
			if err != nil {
				return err
			}
			defer lock.Close()
			path := o.dir.path(masterFile)
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				return refuse("invalid_input", "%s is there; nothing was reset. Only a master key that is lost is replaced", path)
			}
			if o.postgres != "" {
				if err := o.nobodyServes(ctx); err != nil {
					return err
				}
				// A database that names no key takes the next one that it is shown: whoever
				// dies here repeats this, and whoever dies below starts a service.
				if err := o.store.SetMeta(ctx, masterMeta, ""); err != nil {
					return err
				}
			}
			m, err := seal.LoadOrCreate(path, rand.Reader)
			if err != nil {
				return err
			}
			fmt.Fprintln(sys.Stdout, "A new master key was made. Every provider key, API key and sign-in that was kept before is void: make the connections and API keys again, and sign in again.")
			if o.postgres != "" {
				if err := o.store.SetMeta(ctx, masterMeta, m.Check()); err != nil {
					return err
				}
				fmt.Fprintf(sys.Stdout, "Copy %s to the data directory of every process before you start it.\n", path)
			}
			return nil
		})
	}
}

func auditCommand(f *flagSet) action {
	data, asJSON := f.data(), f.toggle("json", "print one JSON document")
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return inspect(ctx, at, func(o *open) error {
			found, err := o.store.Audit(ctx)
			if err != nil {
				return err
			}
			moved, err := o.movedTo(ctx)
			if err != nil {
				return err
			}
			if err := printAudit(sys.Stdout, found, moved, *asJSON); err != nil {
				return err
			}
			if len(found) > 0 {
				return &refusal{code: "audit_failed", message: fmt.Sprintf("%d findings: the record contradicts itself", len(found)), status: exitFailed}
			}
			return nil
		})
	}
}

// printAudit prints what was found; moved is where the installation is now, ""
// when it is here.
func printAudit(w io.Writer, found []audit.Finding, moved string, asJSON bool) error {
	if asJSON {
		doc := map[string]any{"ok": len(found) == 0, "findings": found}
		if moved != "" {
			doc["moved_to"] = moved
		}
		return json.NewEncoder(w).Encode(doc)
	}
	if moved != "" {
		fmt.Fprintf(w, "The installation has moved to %s. This is about the copy that stayed here; name the other one with --database or --database-file.\n", moved)
	}
	for _, f := range found {
		fmt.Fprintf(w, "%s: %s: %s\n", f.Rule, f.Subject, f.Detail)
	}
	if len(found) == 0 {
		fmt.Fprintln(w, "No findings.")
	}
	return nil
}
