package apitest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
)

// ownData is what the workspace brought: files, and benchmarks made of them.
type ownData struct {
	sources    []*api.BenchmarkSource
	content    map[string][]byte
	benchmarks []*api.PrivateBenchmark
	imports    []api.BenchmarkImport
}

// privateRoutes are the routes of a workspace's own benchmarks.
func (f *Fake) privateRoutes() []route {
	const read, submit = "eval:read", "benchmarks:submit"
	return []route{
		{"POST /v1/benchmark-sources", submit, false, f.createSource},
		{"GET /v1/benchmark-sources", read, false, f.listSources},
		{"GET /v1/benchmark-sources/{id}", read, false, f.getSource},
		{"PUT /v1/benchmark-sources/{id}/content", submit, false, f.putSource},
		{"POST /v1/benchmark-sources/{id}/archive", submit, false, f.archiveSource},
		{"POST /v1/benchmark-imports", submit, false, f.createImport},
		{"GET /v1/benchmark-imports/{id}", read, false, f.getImport},
		{"POST /v1/benchmarks/preview", submit, false, f.previewOwn},
		{"POST /v1/benchmarks", submit, true, f.createOwn},
		{"GET /v1/benchmarks", read, false, f.listOwn},
		{"GET /v1/benchmarks/{profile_id}", read, false, f.getOwn},
		{"POST /v1/benchmarks/{profile_id}/archive", submit, false, f.archiveOwn},
	}
}

func (f *Fake) source(id string) (*api.BenchmarkSource, *failure) {
	for _, s := range f.mine.sources {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, notFound("source")
}

func (f *Fake) createSource(in *request) (*reply, *failure) {
	var n api.NewBenchmarkSource
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	if n.FileName == "" || n.Bytes < 1 || len(n.SHA256) != 64 || !slices.Contains([]string{api.SourceJSONL, api.SourceCSV, api.SourceParquet, api.SourcePackage}, n.Format) {
		return nil, invalid(api.FieldError{Path: "bytes", Code: "invalid_value"})
	}
	return ok(*f.addSource(n))
}

func (f *Fake) addSource(n api.NewBenchmarkSource) *api.BenchmarkSource {
	s := &api.BenchmarkSource{ID: uuid.NewString(), FileName: n.FileName, Format: n.Format, Bytes: n.Bytes, SHA256: n.SHA256, Status: api.SourcePending, CreatedAt: f.now()}
	s.URI = "workspace://" + s.ID + "/" + s.FileName
	f.mine.sources = append([]*api.BenchmarkSource{s}, f.mine.sources...)
	return s
}

func (f *Fake) listSources(in *request) (*reply, *failure) {
	var out []api.BenchmarkSource
	for _, s := range f.mine.sources {
		if !differs(in.URL.Query().Get("status"), s.Status) {
			out = append(out, *s)
		}
	}
	return page(in, out)
}

func (f *Fake) getSource(in *request) (*reply, *failure) {
	s, x := f.source(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	return ok(*s)
}

// putSource takes the next bytes, and looks at the whole once it is there.
func (f *Fake) putSource(in *request) (*reply, *failure) {
	s, x := f.source(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	var from, to, size int64
	if _, err := fmt.Sscanf(in.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size); err == nil {
		if from != s.ReceivedBytes || size != s.Bytes || to-from+1 != int64(len(in.body)) || to >= size {
			return nil, refuse(http.StatusConflict, api.SourceOffset, "the part does not begin where the source ends").with("offset", s.ReceivedBytes)
		}
		f.mine.content[s.ID] = append(f.mine.content[s.ID], in.body...)
		s.ReceivedBytes += int64(len(in.body))
	}
	if s.ReceivedBytes == s.Bytes {
		f.examine(s)
	}
	return ok(*s)
}

func (f *Fake) examine(s *api.BenchmarkSource) {
	body := f.mine.content[s.ID]
	if sha256Hex(string(body)) != s.SHA256 {
		s.Status, s.ErrorCode, s.ErrorMessage = api.SourceFailed, new("checksum_mismatch"), new("the bytes are not those that were announced")
		return
	}
	s.Status = api.SourceCompleted
	rows := rowsOf(s.Format, body)
	s.RowCount = new(len(rows))
	if len(rows) > 0 && s.Format != api.SourcePackage {
		s.Columns = slices.Sorted(maps.Keys(rows[0]))
	}
}

// rowsOf reads CSV and JSONL. Of other formats it knows one row, without cells.
func rowsOf(format string, body []byte) (out []map[string]string) {
	switch format {
	case api.SourceCSV:
		lines, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
		for i := 1; err == nil && i < len(lines); i++ {
			row := map[string]string{}
			for c, cell := range lines[i] {
				row[lines[0][c]] = cell
			}
			out = append(out, row)
		}
	case api.SourceJSONL:
		dec := json.NewDecoder(bytes.NewReader(body))
		for {
			var row map[string]any
			if dec.Decode(&row) != nil {
				return out
			}
			cells := map[string]string{}
			for k, v := range row {
				cells[k] = fmt.Sprint(v)
			}
			out = append(out, cells)
		}
	default:
		return []map[string]string{{}}
	}
	return out
}

func (f *Fake) archiveSource(in *request) (*reply, *failure) {
	s, x := f.source(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	if s.ArchivedAt == nil {
		s.Status, s.ArchivedAt = api.SourceArchived, new(f.now())
		delete(f.mine.content, s.ID)
	}
	return ok(*s)
}

// createImport finds every file of every data set, with a line of its own.
func (f *Fake) createImport(in *request) (*reply, *failure) {
	var n api.NewBenchmarkImport
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	set, ref, found := strings.Cut(strings.TrimPrefix(n.Source, "hf://"), "@")
	if !strings.HasPrefix(n.Source, "hf://") || !found || strings.Count(set, "/") != 1 || len(n.Files) == 0 {
		return nil, invalid(api.FieldError{Path: "source", Code: "invalid_value"})
	}
	im := api.BenchmarkImport{ID: uuid.NewString(), Status: api.ImportCompleted, Source: n.Source, Commit: new(digest(set, ref)[:40]), CreatedAt: f.now(), EndedAt: new(f.now()), Files: []api.ImportedFile{}}
	for _, name := range n.Files {
		body := []byte("question,answer\n1 + 1,2\n")
		s := f.addSource(api.NewBenchmarkSource{FileName: name, Format: api.SourceCSV, Bytes: int64(len(body)), SHA256: sha256Hex(string(body))})
		s.URI, s.ReceivedBytes, f.mine.content[s.ID] = "hf://"+set+"@"+*im.Commit+"/"+name, s.Bytes, body
		f.examine(s)
		im.Files = append(im.Files, api.ImportedFile{URI: s.URI, SHA256: s.SHA256, Bytes: s.Bytes, SourceID: s.ID})
	}
	f.mine.imports = append(f.mine.imports, im)
	return ok(im)
}

func (f *Fake) getImport(in *request) (*reply, *failure) {
	for _, im := range f.mine.imports {
		if im.ID == in.PathValue("id") {
			return ok(im)
		}
	}
	return nil, notFound("import")
}

// manifest is the manifest of a request with the rows of its source.
func (f *Fake) manifest(in *request) (m api.BenchmarkManifest, rows []map[string]string, x *failure) {
	if x = in.decode(&m); x != nil {
		return m, nil, x
	}
	at := slices.IndexFunc(f.mine.sources, func(s *api.BenchmarkSource) bool { return s.URI == m.Source })
	switch {
	case m.Name == "" || !m.RightsAttestation:
		return m, nil, refuse(http.StatusUnprocessableEntity, api.ManifestInvalid, "the manifest has no name, or does not say that its data may be used so").with("fields", []api.FieldError{{Path: "rights_attestation", Code: "required"}})
	case at < 0:
		return m, nil, notFound("source")
	case f.mine.sources[at].Status != api.SourceCompleted:
		return m, nil, refuse(http.StatusConflict, api.SourceNotReady, "the source is not completed")
	}
	s := f.mine.sources[at]
	return m, rowsOf(s.Format, f.mine.content[s.ID]), nil
}

func (f *Fake) previewOwn(in *request) (*reply, *failure) {
	m, rows, x := f.manifest(in)
	if x != nil {
		return nil, x
	}
	v := api.BenchmarkPreview{OK: true, RowCount: len(rows), Errors: []api.RowError{}, Examples: []api.BenchmarkExample{}, Warnings: []string{}}
	for i, row := range rows {
		prompt := m.PromptTemplate
		for name, cols := range m.Columns {
			prompt = strings.ReplaceAll(prompt, "{{"+name+"}}", row[cols[0]])
		}
		answer := ""
		if cols := m.Columns[api.ColumnAnswer]; len(cols) > 0 {
			answer = row[cols[0]]
		}
		if answer == "" && m.Task != "" {
			v.OK, v.ErrorCount = false, v.ErrorCount+1
			v.Errors = append(v.Errors, api.RowError{Row: new(i + 1), Column: new(api.ColumnAnswer), Code: "answer_missing", Message: "the row has no answer"})
		} else if len(v.Examples) < 5 {
			v.Examples = append(v.Examples, api.BenchmarkExample{Prompt: prompt, Answer: answer})
		}
	}
	return ok(v)
}

func (f *Fake) createOwn(in *request) (*reply, *failure) {
	m, rows, x := f.manifest(in)
	if x != nil {
		return nil, x
	}
	b := &api.PrivateBenchmark{
		ProfileID: "byob-" + uuid.NewString() + "@1", Name: m.Name, Task: m.Task, Status: api.BenchmarkActive, SourceURI: m.Source, ManifestSHA256: sha256Hex(string(in.body)),
		TaskCount: len(rows), CreatedBy: "fake", CreatedAt: f.now(), QuoteAvailability: &api.BenchmarkQuoteAvailability{Status: api.ReadyForQuote},
	}
	f.mine.benchmarks = append([]*api.PrivateBenchmark{b}, f.mine.benchmarks...)
	return ok(*b)
}

func (f *Fake) own(profileID string) (*api.PrivateBenchmark, *failure) {
	for _, b := range f.mine.benchmarks {
		if b.ProfileID == profileID {
			return b, nil
		}
	}
	return nil, notFound("benchmark")
}

func (f *Fake) listOwn(in *request) (*reply, *failure) {
	var out []api.PrivateBenchmark
	for _, b := range f.mine.benchmarks {
		if !differs(in.URL.Query().Get("status"), b.Status) {
			out = append(out, *b)
		}
	}
	return page(in, out)
}

func (f *Fake) getOwn(in *request) (*reply, *failure) {
	b, x := f.own(in.PathValue("profile_id"))
	if x != nil {
		return nil, x
	}
	return ok(*b)
}

func (f *Fake) archiveOwn(in *request) (*reply, *failure) {
	b, x := f.own(in.PathValue("profile_id"))
	if x != nil {
		return nil, x
	}
	if b.ArchivedAt == nil {
		b.Status, b.ArchivedAt = api.BenchmarkArchived, new(f.now())
	}
	return ok(*b)
}

// ownRecords are the active benchmarks of the workspace as the catalog has them.
func (f *Fake) ownRecords() (out []api.BenchmarkRecord) {
	for _, b := range f.mine.benchmarks {
		if b.Status != api.BenchmarkActive {
			continue
		}
		r := f.benchmarks()[0]
		r.ID, r.Slug, r.Name, r.ManifestSHA256, r.TaskCount, r.Visibility = b.ProfileID, strings.TrimSuffix(b.ProfileID, "@1"), &b.Name, b.ManifestSHA256, &b.TaskCount, "private"
		r.SuggestedSampleCount = &b.TaskCount
		out = append(out, r)
	}
	return out
}
