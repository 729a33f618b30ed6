package pack

import (
	"encoding/json"

	"github.com/evalrouter/evalrouter/bundle"
)

// Manifest is evalrouter.json.
type Manifest struct {
	Schema string `json:"schema"`
	// Namespace and Name name the benchmark, Version this state of it. They
	// make the file name of a bundle.
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Version     string `json:"version"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// Synthetic says that the tasks were made up by a program or a template.
	Synthetic bool    `json:"synthetic,omitempty"`
	License   License `json:"license"`
	// References are https addresses of papers and sources.
	References []string `json:"references,omitempty"`
	// Template is the shape of the tasks: text, multiple-choice, numeric, json
	// or conversation.
	Template   string      `json:"template"`
	Prompt     *Prompt     `json:"prompt,omitempty"`
	Grader     Grader      `json:"grader"`
	Limits     Limits      `json:"limits"`
	Metrics    []string    `json:"metrics,omitempty"`
	Components []Component `json:"components"`
}

// License holds SPDX identifiers or expressions.
type License struct {
	Data string `json:"data"`
	Code string `json:"code,omitempty"`
}

// Prompt is what stands around the input of every task.
type Prompt struct {
	System string `json:"system,omitempty"`
	// Template is the user's message: plain text with {{input}} and, for
	// multiple choice, {{choices}}, which becomes the options with their
	// letters, one a line. It is {{input}} when absent, and not allowed where
	// tasks hold whole conversations.
	Template string `json:"template,omitempty"`
}

// Grader is the kind of the grader with its options.
type Grader struct {
	Kind    string          `json:"kind"`
	Options json.RawMessage `json:"options,omitempty"`
}

// Limits bound one answer.
type Limits struct {
	MaxOutputTokens int64 `json:"max_output_tokens"`
}

// Component is one file of the package.
type Component struct {
	Path string `json:"path"`
	// Role is dataset, fixtures, license or documentation.
	Role string `json:"role"`
	// Schema names the form of the lines of a dataset and of fixtures.
	Schema string `json:"schema,omitempty"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Roles of components. A package has exactly one dataset, one fixtures and one
// license; documentation may stand as often as wanted, at least once.
const (
	RoleDataset       = "dataset"
	RoleFixtures      = "fixtures"
	RoleLicense       = "license"
	RoleDocumentation = "documentation"
)

// Shapes of tasks.
const (
	TemplateText         = "text"
	TemplateChoice       = "multiple-choice"
	TemplateNumeric      = "numeric"
	TemplateJSON         = "json"
	TemplateConversation = "conversation"
)

// Templates lists the shapes of tasks, the default first.
func Templates() []string {
	return []string{TemplateText, TemplateChoice, TemplateNumeric, TemplateJSON, TemplateConversation}
}

// Component finds the first component of a role, nil if there is none.
func (m Manifest) Component(role string) *Component {
	for i := range m.Components {
		if m.Components[i].Role == role {
			return &m.Components[i]
		}
	}
	return nil
}

// BundleName is the name of the file that a bundle of the package is written
// to by default.
func (m Manifest) BundleName() string {
	return "evalrouter-bundle-" + m.Namespace + "-" + m.Name + "-" + m.Version + ".zip"
}

// TaskLine is the form of a line of a dataset. It is read by a faster path;
// the type documents it, and the published schema is made from it.
type TaskLine struct {
	// ID is unique, 1 to 200 characters of letters, digits and _.:@+-.
	ID string `json:"id"`
	// Input is the question: text, or in a conversation an array of Turn that
	// ends with the user.
	Input json.RawMessage `json:"input"`
	// Target is the right answer: text or an array of acceptable texts; for
	// numeric tasks also a number, for JSON tasks an object or array, which is
	// then one answer. For multiple choice it is a letter.
	Target json.RawMessage `json:"target"`
	// Choices are the options of a multiple-choice task, 2 to 26.
	Choices []string `json:"choices,omitempty"`
	// Group names a cluster of tasks that are not independent.
	Group string `json:"group,omitempty"`
}

// Turn is one message of a conversation.
type Turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// FixtureLine is the form of a line of fixtures: an answer and the outcome
// that the grader must give it.
type FixtureLine struct {
	Task   string `json:"task"`
	Output string `json:"output"`
	// Finish is why the model stopped: stop by default, length or
	// content_filter.
	Finish string `json:"finish,omitempty"`
	Expect string `json:"expect"`
	Note   string `json:"note,omitempty"`
}

// Config is the grader as the families of graders take it.
func (m Manifest) Config() bundle.GraderConfig {
	return bundle.GraderConfig{Kind: m.Grader.Kind, Options: m.Grader.Options}
}
