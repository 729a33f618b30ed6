package api

import (
	"encoding/json"
	"fmt"
)

// Kinds of model.
const (
	ManagedKind    = "managed"
	ConnectionKind = "connection"
	ComparisonKind = "comparison"
)

// ModelRef names a model in a request: a managed route or a connection.
type ModelRef struct {
	Kind         string `json:"kind"`
	RouteID      string `json:"route_id,omitempty"`
	ConnectionID string `json:"connection_id,omitempty"`
}

// SelectedModel is a model as it was frozen into a quote or a run.
type SelectedModel struct {
	Kind            string         `json:"kind"`
	ModelID         string         `json:"model_id"`
	Protocol        string         `json:"protocol"`
	Revision        int            `json:"revision"`
	Capabilities    []string       `json:"capabilities"`
	Limits          map[string]any `json:"limits"`
	RouteID         *string        `json:"route_id,omitempty"`
	ConnectionID    *string        `json:"connection_id,omitempty"`
	ArtifactID      *string        `json:"artifact_id,omitempty"`
	ArtifactSHA256  *string        `json:"artifact_sha256,omitempty"`
	PriceVersion    *string        `json:"price_version,omitempty"`
	ProviderCharges *string        `json:"provider_charges,omitempty"` // included or external
	Generation      map[string]any `json:"generation,omitempty"`
	Likelihood      map[string]any `json:"likelihood,omitempty"`
	Pricing         *Pricing       `json:"pricing,omitempty"`
	Routing         map[string]any `json:"routing,omitempty"`

	DisplayName string `json:"display_name,omitempty"`
	Simulated   bool   `json:"simulated,omitempty"`
}

// ComparisonModel is several models evaluated as one run.
type ComparisonModel struct {
	Kind    string          `json:"kind"`
	ModelID string          `json:"model_id"`
	Models  []SelectedModel `json:"models"`
}

// Model is a SelectedModel or a ComparisonModel: exactly one is not nil.
type Model struct {
	Selected   *SelectedModel
	Comparison *ComparisonModel
}

// Name is the model's name for people.
func (m Model) Name() string {
	switch {
	case m.Comparison != nil:
		return m.Comparison.ModelID
	case m.Selected == nil:
		return ""
	case m.Selected.DisplayName != "":
		return m.Selected.DisplayName
	}
	return m.Selected.ModelID
}

// MarshalJSON writes whichever is set.
func (m Model) MarshalJSON() ([]byte, error) {
	if m.Comparison != nil {
		return json.Marshal(m.Comparison)
	}
	return json.Marshal(m.Selected)
}

// UnmarshalJSON decides by the member "kind".
func (m *Model) UnmarshalJSON(b []byte) error {
	var k struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(b, &k); err != nil {
		return fmt.Errorf("read model: %w", err)
	}
	*m = Model{}
	if k.Kind == ComparisonKind {
		return json.Unmarshal(b, &m.Comparison)
	}
	return json.Unmarshal(b, &m.Selected)
}
