package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Request is what makes two commands the same command. Two requests that
// differ in any field are separate work; two equal ones never become two runs
// by accident.
type Request struct {
	Origin    string         `json:"origin"`
	Workspace string         `json:"workspace"`
	Kind      string         `json:"kind"`
	ProfileID string         `json:"profile_id"`
	Models    []ModelSetting `json:"models"`
	Coverage  api.Coverage   `json:"coverage"`
	// Cap counts only when it was given as a flag: a cap that is typed at a
	// prompt belongs to the operation, and an unfinished operation is resumed
	// before any cap is asked for.
	Cap           *usd.Micro      `json:"cap,omitempty"`
	Consents      map[string]bool `json:"consents,omitempty"`
	SourceRunID   string          `json:"source_run_id,omitempty"`
	SourceGroupID string          `json:"source_group_id,omitempty"`
}

// ModelSetting is one model with everything that changes its answers.
type ModelSetting struct {
	Model        api.ModelRef         `json:"model"`
	Reasoning    *api.ReasoningChoice `json:"reasoning,omitempty"`
	Concurrency  string               `json:"concurrency,omitempty"`
	OutputFormat string               `json:"output_format,omitempty"`
}

// Fingerprint is the SHA-256 of the request in hexadecimal.
func (r Request) Fingerprint() (string, error) {
	// The JSON of a struct has a fixed order of members, and maps are sorted.
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("fingerprint a request: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
