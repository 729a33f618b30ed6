// Package bring is the page on which a person gives the workspace a benchmark of
// its own: a package that evalrouter-bench wrote. It goes the way of the API: the
// file becomes a source, and a benchmark is made of it once, however often the
// form is sent.
package bring

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/lib/plain"
)

//go:embed files
var files embed.FS

// Path is where the page is.
const Path = "/benchmarks/bring"

// submit is the scope of the page, that of the routes.
const submit = "benchmarks:submit"

// Handlers shows the page.
type Handlers struct {
	// Service is nil where workspaces bring nothing.
	Service *byob.Service
	// Scopes are all that a role can have.
	Scopes []string
}

// Sections: the list of benchmarks leads here.
func (h *Handlers) Sections() []web.Section { return nil }

// Pages is the table.
func (h *Handlers) Pages() []web.Page {
	if h.Service == nil {
		return nil
	}
	return []web.Page{
		{Method: http.MethodGet, Path: Path, Show: h.page},
		{Method: http.MethodPost, Path: Path, File: core.MaxPackageBytes, Show: h.take},
	}
}

// fields is what the form holds.
type fields struct {
	Action, Form, Name string
}

func (h *Handlers) page(_ http.ResponseWriter, _ *http.Request, v web.Visit) (web.Shown, error) {
	if err := h.may(v); err != nil {
		return web.Shown{}, err
	}
	return show(v, "", "")
}

func (h *Handlers) may(v web.Visit) error {
	if !v.In {
		return web.ErrSignIn
	}
	if !slices.Contains(v.At.Role.Scopes(h.Scopes), submit) {
		return core.Refuse(core.InsufficientScope, "Your role in this workspace does not include %s. Nothing was made.", submit)
	}
	return nil
}

func show(v web.Visit, name, bad string) (web.Shown, error) {
	t, err := template.ParseFS(files, "files/bring.html")
	if err != nil {
		return web.Shown{}, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, fields{Path + "?workspace=" + url.QueryEscape(string(v.At.ID)), v.Form, name})
	s := web.Shown{Title: "Bring a benchmark", Section: "/benchmarks", Body: template.HTML(b.String()), Bad: bad, Choose: true}
	if bad != "" {
		s.Status = http.StatusUnprocessableEntity
	}
	return s, err
}

// take makes a benchmark of the file, and leads to it.
func (h *Handlers) take(w http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	if err := h.may(v); err != nil {
		return web.Shown{}, err
	}
	name := strings.TrimSpace(r.PostFormValue("name"))
	made, err := h.make(r, v, name)
	if text, ok := worded(err); ok {
		return show(v, name, text)
	}
	if err != nil {
		return web.Shown{}, err
	}
	slug, _, _ := strings.Cut(string(made), "@")
	http.Redirect(w, r, "/benchmarks/"+url.PathEscape(slug)+"?workspace="+url.QueryEscape(string(v.At.ID)), http.StatusSeeOther)
	return web.Shown{}, web.ErrAnswered
}

func (h *Handlers) make(r *http.Request, v web.Visit, name string) (core.ProfileID, error) {
	if r.PostFormValue("rights") == "" {
		return "", refuse("Say that you may use the data so. Nothing was made.")
	}
	f, head, err := r.FormFile("file")
	if err != nil {
		return "", refuse("Choose the package, a file that ends in .zip. Nothing was made.")
	}
	defer f.Close()
	if head.Size == 0 {
		return "", refuse("The file is empty. Nothing was made.")
	}
	// The sender may leave before all is made; what was begun is finished.
	ctx, sc := context.WithoutCancel(r.Context()), core.Scope{Workspace: v.At.ID, Actor: string(v.User.ID)}
	src, sum, err := h.source(ctx, sc, f, head)
	if err != nil {
		return "", err
	}
	if name == "" {
		name = strings.TrimSuffix(src.FileName, path.Ext(src.FileName))
	}
	return h.once(ctx, sc, src, name, sum)
}

// source brings the file. The same file again is the same source.
func (h *Handlers) source(ctx context.Context, sc core.Scope, f multipart.File, head *multipart.FileHeader) (src core.DataSource, sum string, err error) {
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err != nil {
		return src, "", fmt.Errorf("read the file of a form: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return src, "", fmt.Errorf("read the file of a form again: %w", err)
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	if src, ok, err := h.there(ctx, sc, sum); ok || err != nil {
		return src, sum, err
	}
	src, err = h.Service.Begin(ctx, sc, byob.NewSource{FileName: fileName(head.Filename), Format: core.FormatPackage, Bytes: size, SHA256: sum})
	if err != nil {
		return src, "", err
	}
	src, err = h.Service.Upload(ctx, sc, src.ID, byob.Part{Whole: true}, f)
	if err == nil && src.Status != core.SourceCompleted {
		err = refuse("The file cannot be used: %s (%s). Nothing was made.", plain.Line(src.Reason), src.Error)
	}
	return src, sum, err
}

// there is a source with the same bytes, of which a form that was sent again, or
// that nobody saw the answer to, makes the same benchmark.
func (h *Handlers) there(ctx context.Context, sc core.Scope, sum string) (core.DataSource, bool, error) {
	all, err := h.Service.Sources.Sources(ctx, sc, core.SourceCompleted, nil, core.MaxSources)
	i := slices.IndexFunc(all, func(s core.DataSource) bool { return s.SHA256 == sum && s.Format == core.FormatPackage })
	if err != nil || i < 0 {
		return core.DataSource{}, false, err
	}
	return all[i], true, nil
}

// once makes the benchmark of a package under a name, one time.
func (h *Handlers) once(ctx context.Context, sc core.Scope, src core.DataSource, name, sum string) (core.ProfileID, error) {
	key := sha256.Sum256([]byte(sum + "\n" + name))
	digest := hex.EncodeToString(key[:])
	got, err := h.Service.Create(ctx, sc, byob.Manifest{Name: name, Source: src.URI, Rights: true}, core.Once{Op: "page-benchmarks", Key: "page-" + digest, Hash: digest},
		func(b core.OwnBenchmark) ([]byte, error) { return json.Marshal(b.Profile) })
	if err != nil {
		return "", err
	}
	var made core.ProfileID
	if err := json.Unmarshal(got.Body, &made); err != nil {
		return "", fmt.Errorf("read what was made: %w", err)
	}
	b, err := h.Service.Benchmarks.Benchmark(ctx, sc, made)
	if err == nil && b.ArchivedAt != 0 {
		err = refuse("This very benchmark was made before, as %s, and archived. Nothing was made. Give it another name.", made)
	}
	return made, err
}

// fileName is a name that a source may have: what a browser sends is the name of
// a file of somebody's machine.
func fileName(sent string) string {
	name := regexp.MustCompile(`[^A-Za-z0-9_. -]`).ReplaceAllString(path.Base(strings.ReplaceAll(sent, `\`, "/")), "_")
	name = strings.TrimLeft(name, ". -")
	if name == "" || len(name) > 200 {
		return "package.zip"
	}
	return name
}

func refuse(format string, args ...any) error {
	return core.Refuse(core.InvalidRequest, format, args...)
}

// worded is what a person reads where a file cannot be used, and ok says that the
// form can be sent again.
func worded(err error) (text string, ok bool) {
	var rows *byob.RowsInvalid
	var bad *byob.Invalid
	var no *core.Refusal
	switch {
	case errors.As(err, &rows):
		text = rows.Error() + "."
		for _, f := range rows.Report.Findings[:min(len(rows.Report.Findings), 5)] {
			text += fmt.Sprintf(" Row %d: %s.", f.Row, plain.Line(f.Message))
		}
	case errors.As(err, &bad):
		text = bad.Message + "."
	case errors.As(err, &no):
		text = no.Message
	default:
		return "", false
	}
	first, rest := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[rest:], true
}
