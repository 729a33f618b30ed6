package traces

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Connections keeps connections with their keys.
type Connections interface {
	AddConnection(context.Context, core.TraceConnection, core.APIKey, core.By) error
	RotateKey(context.Context, core.Scope, core.TraceConnectionID, core.APIKey, core.By) error
	Connection(context.Context, core.Scope, core.TraceConnectionID) (core.TraceConnection, error)
	Connections(ctx context.Context, sc core.Scope, after *core.Place, limit int) ([]core.TraceConnection, error)
	ChangeConnection(ctx context.Context, sc core.Scope, id core.TraceConnectionID, change func(*core.TraceConnection) error) error
	DisableConnection(context.Context, core.Scope, core.TraceConnectionID, core.By) error
}

// Service keeps the trace connections of workspaces.
type Service struct {
	Connections
	// NewID makes ids, NewEntry those of lines of the log of access.
	NewID, NewEntry func() string
	// Issue draws an ingest key: the secret, which is shown once, and its id,
	// prefix and MAC.
	Issue func() (secret string, kept core.APIKey, err error)
}

// Asker is who makes and ends connections, and with them keys.
type Asker struct {
	core.Scope
	User    core.UserID // "" for a key
	Address string
}

func (s *Service) by(a Asker) core.By {
	return core.By{Entry: s.NewEntry(), Workspace: a.Workspace, Actor: a.Actor, Address: a.Address}
}

// Bounds of a connection's settings.
const (
	defaultValue = 64 << 10
	leastValue   = 256
	mostValue    = 256 << 10
	maxName      = 100
	maxFields    = 100
)

// Settings is what a caller says of a connection; nil is the usual, or what it
// was.
type Settings struct {
	Name            *string
	Inputs, Outputs *bool
	MaxValue        *int
	Fields          *[]string
	Days            *int
}

// Create makes a connection. The secret of its key is given once.
func (s *Service) Create(ctx context.Context, a Asker, kind string, in Settings) (c core.TraceConnection, secret string, err error) {
	if kind != core.TraceSDK && kind != core.TraceOTLP && kind != core.TraceLangSmith {
		return c, "", wrong("kind", "the kind of a connection is sdk, otlp or langsmith; nothing was made")
	}
	c = core.TraceConnection{
		ID: core.TraceConnectionID(s.NewID()), Workspace: a.Workspace, Kind: kind, Actor: a.Actor, Days: core.TraceDays,
		Capture: core.Capture{Inputs: true, Outputs: true, MaxValue: defaultValue, Fields: []string{}},
	}
	if in.Name == nil {
		return c, "", wrong("name", "a connection has a name; nothing was made")
	}
	if err := in.apply(&c); err != nil {
		return c, "", err
	}
	secret, key, err := s.Issue()
	if err != nil {
		return c, "", err
	}
	key.CreatedBy = a.User
	if err := s.AddConnection(ctx, c, key, s.by(a)); err != nil {
		return c, "", err
	}
	c, err = s.Connection(ctx, a.Scope, c.ID)
	return c, secret, err
}

// Update changes what is set.
func (s *Service) Update(ctx context.Context, sc core.Scope, id core.TraceConnectionID, in Settings) (core.TraceConnection, error) {
	if err := s.ChangeConnection(ctx, sc, id, in.apply); err != nil {
		return core.TraceConnection{}, err
	}
	return s.Connection(ctx, sc, id)
}

// Rotate gives a connection another key. The one before stays good until the
// next rotation.
func (s *Service) Rotate(ctx context.Context, a Asker, id core.TraceConnectionID) (c core.TraceConnection, secret string, err error) {
	secret, key, err := s.Issue()
	if err != nil {
		return c, "", err
	}
	key.CreatedBy = a.User
	if err := s.RotateKey(ctx, a.Scope, id, key, s.by(a)); err != nil {
		return c, "", err
	}
	c, err = s.Connection(ctx, a.Scope, id)
	return c, secret, err
}

// Disable ends a connection and its keys.
func (s *Service) Disable(ctx context.Context, a Asker, id core.TraceConnectionID) error {
	return s.DisableConnection(ctx, a.Scope, id, s.by(a))
}

// apply sets what is given, or refuses it.
func (in Settings) apply(c *core.TraceConnection) error {
	if in.Name != nil {
		name := strings.TrimSpace(*in.Name)
		if name == "" || utf8.RuneCountInString(name) > maxName {
			return wrong("name", "a name has 1 to 100 characters; nothing was changed")
		}
		c.Name = name
	}
	if in.Inputs != nil {
		c.Capture.Inputs = *in.Inputs
	}
	if in.Outputs != nil {
		c.Capture.Outputs = *in.Outputs
	}
	if in.MaxValue != nil {
		if *in.MaxValue < leastValue || *in.MaxValue > mostValue {
			return wrong("capture.max_value_bytes", "max_value_bytes is 256 to 262144; nothing was changed")
		}
		c.Capture.MaxValue = *in.MaxValue
	}
	if in.Days != nil {
		if *in.Days < 1 || *in.Days > core.MaxTraceDays {
			return wrong("retention_days", "retention_days is 1 to 400; nothing was changed")
		}
		c.Days = *in.Days
	}
	if in.Fields == nil {
		return nil
	}
	if len(*in.Fields) > maxFields {
		return wrong("capture.redact_fields", "redact_fields has at most 100 names; nothing was changed")
	}
	c.Capture.Fields = []string{}
	for _, f := range *in.Fields {
		if f = strings.TrimSpace(f); f == "" || len(f) > maxName {
			return wrong("capture.redact_fields", "a field's name has 1 to 100 characters; nothing was changed")
		}
		c.Capture.Fields = append(c.Capture.Fields, f)
	}
	return nil
}

// Field is an error of one field of a request.
type Field struct{ Path, Message string }

// Error is the sentence.
func (f *Field) Error() string { return f.Message }

func wrong(path, message string) error { return &Field{path, message} }
