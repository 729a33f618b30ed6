package byob_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const lines = `{"q":"1+1?","a":2,"opts":["1","2"],"i":"x","g":null,"o":{"n":2}}
{"q":"2+2?","a":"4","opts":["3","4"],"i":"y","o":{"n":4}}
`

// memory has one completed source and keeps what is admitted for nobody.
type memory struct{ src core.DataSource }

func newMemory() memory {
	sum := sha256.Sum256([]byte(lines))
	return memory{core.DataSource{
		ID: "s", Workspace: "w", FileName: "f.jsonl", Format: core.FormatJSONL, Bytes: int64(len(lines)), SHA256: hex.EncodeToString(sum[:]), Received: int64(len(lines)),
		Rows: 2, Columns: []string{"q", "a", "opts", "i", "g", "o"}, Status: core.SourceCompleted, URI: "workspace://s/f.jsonl",
	}}
}

func (m memory) AddSource(context.Context, core.DataSource) (core.DataSource, error) {
	return m.src, errors.New("nothing is added here")
}

func (m memory) Source(_ context.Context, _ core.Scope, id core.SourceID) (core.DataSource, error) {
	if id != m.src.ID {
		return core.DataSource{}, core.Missing("source")
	}
	return m.src, nil
}

func (m memory) SourceByURI(_ context.Context, _ core.Scope, uri string) (core.DataSource, error) {
	if uri != m.src.URI {
		return core.DataSource{}, core.Missing("source")
	}
	return m.src, nil
}

func (m memory) Sources(context.Context, core.Scope, string, *core.Place, int) ([]core.DataSource, error) {
	return nil, nil
}

func (m memory) ArchiveSource(context.Context, core.Scope, core.SourceID) error { return nil }

func (m memory) StartOver(context.Context, core.Scope, core.SourceID) error { return nil }

func (m memory) Append(context.Context, core.Scope, core.SourceID, int64, []byte) error { return nil }

func (m memory) Finish(context.Context, core.Scope, core.SourceID, core.WhatFound) error { return nil }

func (m memory) Copy(_ context.Context, _ core.DataSource, w io.Writer) error {
	_, err := io.WriteString(w, lines)
	return err
}

func (m memory) Profile(context.Context, core.Scope, core.ProfileID) (core.Profile, error) {
	return core.Profile{}, core.Missing("benchmark")
}

func (m memory) Admit(_ context.Context, p core.Profile, _ func() iter.Seq2[bundle.Task, error]) (core.Profile, bool, error) {
	return p, true, nil
}

// FuzzManifest: whatever a manifest says, it is refused with fields and codes,
// or every row is either a task with a prompt or a finding. Nothing panics, and
// what is accepted once is accepted again with the same tasks.
func FuzzManifest(f *testing.F) {
	for _, s := range []string{
		`{"Name":"n","Source":"workspace://s/f.jsonl","Task":"numeric","Columns":{"answer":["a"],"q":["q"]},"Template":"{{q}}","MaxOutputTokens":9,"License":"MIT","Rights":true}`,
		`{"Name":"n","Source":"workspace://s/f.jsonl","Task":"multiple_choice","Columns":{"answer":["a"],"q":["q"],"choices":["opts"],"id":["i"],"group":["g"]},"Template":"{{q}}{{choices}}","AnswerFormat":"choice","MaxOutputTokens":9,"License":"MIT","Rights":true}`,
		`{"Name":"n","Source":"workspace://s/f.jsonl","Task":"json_field_match","Columns":{"answer":["o"],"q":["/o/n"]},"Template":"{{q}}","Options":{"fields":["/n"]},"MaxOutputTokens":9,"License":"MIT","Rights":true}`,
		`{"Source":"hf://a/b@c/d"}`, `{}`,
	} {
		f.Add(s)
	}
	mem := newMemory()
	f.Fuzz(func(t *testing.T, doc string) {
		var m byob.Manifest
		if json.Unmarshal([]byte(doc), &m) != nil {
			return
		}
		s := &byob.Service{Sources: mem, Bytes: mem, Catalog: mem, SpoolDir: t.TempDir(), NewID: func() string { return "id" }}
		p, err := s.Preview(t.Context(), core.Scope{Workspace: "w"}, m)
		var bad *byob.Invalid
		switch {
		case errors.As(err, &bad):
			if len(bad.Fields) == 0 || bad.Code != core.ManifestInvalid {
				t.Fatalf("%s: %+v", doc, bad)
			}
			for _, x := range bad.Fields {
				if x.Code == "" {
					t.Fatalf("%s: %+v", doc, bad)
				}
			}
			return
		case err != nil:
			t.Fatalf("%s: %v", doc, err)
		case p.Report.Tasks+p.Report.Total != 2 || p.Report.Rows != 2:
			t.Fatalf("%s: %+v", doc, p.Report)
		}
		for _, e := range p.Examples {
			if strings.TrimSpace(e.Prompt) == "" || strings.TrimSpace(e.Answer) == "" {
				t.Fatalf("%s: %+v", doc, e)
			}
		}
		again, err := s.Preview(t.Context(), core.Scope{Workspace: "w"}, m)
		if err != nil || len(again.Examples) != len(p.Examples) {
			t.Fatalf("%s: %v", doc, err)
		}
	})
}
