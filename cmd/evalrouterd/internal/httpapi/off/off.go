// Package off stands for the routes of a feature that the operator has switched
// off. They are there, with the same scopes: who may not use the feature hears
// that, and who may hears why it is not there.
package off

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
)

// Subject is a subject that is switched off.
type Subject struct {
	Of httpapi.Subject
	// Feature is what clients are told is missing, and Name how people call it.
	Feature, Name string
}

// Features are none.
func (s Subject) Features() []string { return nil }

// Routes are those of the subject, each with the refusal.
func (s Subject) Routes() []httpapi.Route {
	out := s.Of.Routes()
	for i := range out {
		out[i].Body = false // it is not read
		out[i] = httpapi.On(out[i], s.refuse)
	}
	return out
}

func (s Subject) refuse(*httpapi.Server, context.Context, *struct{}) (*httpapi.Answer[struct{}], error) {
	return nil, core.Refuse(core.FeatureUnavailable, "this service has no %s: its operator has switched them off; nothing was changed", s.Name).With("feature", s.Feature)
}
