package group

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/report/comparison"
)

type comparisonInput struct {
	ID     string `path:"id"`
	Format string `query:"format" enum:"json,html" default:"json"`
}

// comparison is made of the members' results as they are kept, each time anew
// and each time the same: it is dated by the newest of them. No model is asked.
func (h *Handlers) comparison(s *httpapi.Server, ctx context.Context, in *comparisonInput) (*httpapi.Exported, error) {
	g, err := h.Groups.Group(ctx, httpapi.ScopeOf(ctx), core.GroupID(in.ID))
	if err != nil {
		return nil, err
	}
	var members []comparison.Member
	var newest time.Time
	for _, id := range g.Members {
		b, err := s.Summary(ctx, id)
		if err != nil {
			return nil, err
		}
		m, err := comparison.ReadSummary(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		if m.GeneratedAt.After(newest) {
			newest = m.GeneratedAt
		}
		sum := sha256.Sum256(b)
		members = append(members, comparison.Member{Summary: m, Source: api.ComparedSource{
			Path: "sources/" + string(id) + ".summary.json", SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(b)), Kind: api.SourceSummary,
		}})
	}
	c, err := comparison.Make(members, comparison.Options{GeneratedAt: newest, Version: h.Version, GroupID: string(g.ID)})
	var no *comparison.Mismatch
	if errors.As(err, &no) {
		return nil, core.Refuse(core.InvalidRequest, "%s", no.Message)
	}
	if err != nil {
		return nil, err
	}
	name := "evalrouter-group-" + string(g.ID[:min(8, len(g.ID))])
	if in.Format == "html" {
		var page bytes.Buffer
		if err := report.Comparison(&page, c); err != nil {
			return nil, err
		}
		return fileOf("text/html; charset=utf-8", name+".html", page.Bytes()), nil
	}
	b, err := httpapi.Record(c)
	if err != nil {
		return nil, err
	}
	return fileOf("application/json; charset=utf-8", name+".json", append(b, '\n')), nil
}

// fileOf answers with a file that is in memory: a comparison is of at most eight
// summaries.
func fileOf(kind, name string, b []byte) *httpapi.Exported {
	return &httpapi.Exported{Body: func(hc huma.Context) {
		sum := sha256.Sum256(b)
		hc.SetHeader("Content-Type", kind)
		hc.SetHeader("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, name))
		hc.SetHeader("X-Content-SHA256", hex.EncodeToString(sum[:]))
		_, _ = hc.BodyWriter().Write(b) // whoever has gone needs no answer
	}}
}
