package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// known is what hashing the default draws comes to, by the digest of what decides
// their tasks. That digest names version, seed, size and grading, and a test makes
// every task anew, so a service need not make five thousand before it first serves.
//
//go:embed known.json
var known []byte

// hashes of a draw, in lower-case hex: of all its tasks and of their ids.
type hashes struct {
	Population string `json:"population_sha256"`
	TaskIDs    string `json:"task_ids_sha256"`
}

// recall fills in the hashes of a draw that are known.
func recall(p *core.Profile) (ok bool, err error) {
	var all map[string]hashes
	if err := json.Unmarshal(known, &all); err != nil {
		return false, fmt.Errorf("decode the known draws: %w", err)
	}
	h, ok := all[p.ManifestSHA256]
	if ok {
		p.PopulationSHA256, p.TaskIDsSHA256, p.DatasetSHA256 = h.Population, h.TaskIDs, h.Population
	}
	return ok, nil
}
