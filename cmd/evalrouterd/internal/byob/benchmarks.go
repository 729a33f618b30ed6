package byob

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// maxExamples is how many tasks a preview shows.
const maxExamples = 5

// Example is a task as a model is asked it.
type Example struct{ Prompt, Answer string }

// Preview is what a manifest would make of its source.
type Preview struct {
	Report   bundle.Report
	Examples []Example
	Warnings []string
}

// Preview checks a manifest against every row of its source. It makes nothing.
func (s *Service) Preview(ctx context.Context, sc core.Scope, m Manifest) (Preview, error) {
	p, err := s.plan(ctx, sc, m, "byob-preview")
	if err != nil {
		return Preview{}, err
	}
	defer p.close()
	out := Preview{Warnings: p.warnings}
	if out.Report, err = p.check(ctx); err != nil {
		return out, err
	}
	seen, repeats := map[[sha256.Size]byte]bool{}, 0
	for t, err := range p.tasks() {
		if err != nil {
			continue // the report says what is wrong with it
		}
		prompt := promptOf(t)
		if len(out.Examples) < maxExamples {
			out.Examples = append(out.Examples, Example{prompt, strings.Join(t.Target, "\n")})
		}
		sum := sha256.Sum256([]byte(prompt))
		if seen[sum] {
			repeats++
		}
		seen[sum] = true
	}
	if repeats > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d rows ask what an earlier row asks", repeats))
	}
	return out, nil
}

func promptOf(t bundle.Task) string {
	if len(t.Input) == 1 {
		return t.Input[0].Text
	}
	parts := make([]string, len(t.Input))
	for i, m := range t.Input {
		parts[i] = string(m.Role) + ": " + m.Text
	}
	return strings.Join(parts, "\n")
}

// RowsInvalid is a manifest whose source has rows that cannot be used.
type RowsInvalid struct{ Report bundle.Report }

// Error says how many.
func (e *RowsInvalid) Error() string {
	return fmt.Sprintf("%d rows of the source cannot be used; nothing was made. A preview lists the first hundred", e.Report.Total)
}

// Create makes a benchmark that its workspace can run, once for a request. The
// source is checked in full. encode writes the answer that is kept.
func (s *Service) Create(ctx context.Context, sc core.Scope, m Manifest, once core.Once, encode func(core.OwnBenchmark) ([]byte, error)) (core.Admitted, error) {
	if err := s.Benchmarks.Room(ctx, sc); err != nil {
		return core.Admitted{}, err
	}
	p, err := s.plan(ctx, sc, m, "byob-"+idOf(sc, once))
	if err != nil {
		return core.Admitted{}, err
	}
	defer p.close()
	report, err := p.check(ctx)
	if err != nil {
		return core.Admitted{}, err
	}
	if report.Total > 0 {
		return core.Admitted{}, &RowsInvalid{report}
	}
	made, _, err := s.Catalog.Admit(ctx, p.profile, p.tasks)
	if err != nil {
		return core.Admitted{}, err
	}
	return s.Benchmarks.AddBenchmark(ctx, sc, once, core.OwnBenchmark{
		Profile: made.ID, Name: m.Name, Task: p.kind, SourceURI: p.source.URI, ManifestSHA256: made.ManifestSHA256, TaskCount: made.TaskCount, Actor: sc.Actor,
	}, encode)
}

// idOf is an id that follows from the request: whoever repeats it after a crash
// finds the tasks that were already written.
func idOf(sc core.Scope, o core.Once) string {
	return uuid.NewHash(sha256.New(), uuid.NameSpaceOID, []byte(string(sc.Workspace)+"\n"+o.Op+"\n"+o.Key+"\n"+o.Hash), 8).String()
}
