package core

import (
	"encoding/json"

	"github.com/evalrouter/evalrouter/bundle"
)

// Profile is one version of a benchmark as the catalog holds it.
type Profile struct {
	ID      ProfileID `json:"id"`
	Slug    string    `json:"slug"`
	Version string    `json:"version"`
	Name    string    `json:"name"`
	// Workspace is "" for a public benchmark.
	Workspace   WorkspaceID `json:"workspace,omitempty"`
	Status      string      `json:"status"` // candidate, active, quarantined or retired
	Description string      `json:"description,omitempty"`
	Category    string      `json:"category,omitempty"`
	// Runner and Family are labels of the contract; Generator is set for
	// benchmarks that are computed instead of stored.
	Runner    string     `json:"runner"`
	Family    string     `json:"family"`
	Generator *Generator `json:"generator,omitempty"`
	// ManifestSHA256 identifies what is asked and how it is graded;
	// DatasetSHA256 the bytes the tasks came from; PopulationSHA256 every task
	// in full; TaskIDsSHA256 every task's id, one a line, in order.
	ManifestSHA256   string          `json:"manifest_sha256"`
	DatasetSHA256    string          `json:"dataset_sha256"`
	PopulationSHA256 string          `json:"population_sha256"`
	TaskIDsSHA256    string          `json:"task_ids_sha256"`
	TaskCount        int             `json:"task_count"`
	MaxOutputTokens  int             `json:"max_output_tokens"`
	Grader           bundle.Identity `json:"grader"`
	// GraderConfig is the declared grader, as its constructor reads it.
	GraderConfig json.RawMessage `json:"grader_config"`
	// Sampling is how answers are to be drawn.
	Sampling bundle.Sampling `json:"sampling,omitzero"`
	// Needs lists what a target must offer, as Target.Offers names it.
	Needs     []string `json:"needs,omitempty"`
	Metrics   []string `json:"metrics"`
	Source    Source   `json:"source"`
	Licence   Licence  `json:"licence"`
	CreatedAt Micros   `json:"created_at"`
}

// Generator names a procedurally generated benchmark: tasks are a pure
// function of these values.
type Generator struct {
	Slug    string `json:"slug"`
	Version string `json:"version"`
	Seed    uint64 `json:"seed"`
}

// Source says where a benchmark's data came from.
type Source struct {
	URL      string `json:"url,omitempty"`
	Revision string `json:"revision,omitempty"`
	Path     string `json:"path,omitempty"`
}

// Licence says under which terms code and data are used, as SPDX expressions.
type Licence struct {
	Data string `json:"data,omitempty"`
	Code string `json:"code,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Ready says whether a quote can be made, with a reason code when not.
func (p Profile) Ready() (bool, string) {
	switch {
	case p.Status == "candidate":
		return false, "in_review"
	case p.Status != "active":
		return false, p.Status
	case p.TaskCount == 0:
		return false, "missing_assets"
	}
	return true, ""
}
