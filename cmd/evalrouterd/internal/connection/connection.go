// Package connection keeps users' own endpoints: where a model is reached,
// with which key and at which declared rates.
//
// A key comes in once, is sealed at once, and leaves only towards the endpoint
// that it was given for: the seal is bound to workspace, connection, origin
// and key version, so that a changed row cannot send it anywhere else. Nothing
// here returns or logs a key.
package connection

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Store keeps connections.
type Store interface {
	InsertConnection(context.Context, core.ConnectionInfo) error
	UpdateConnection(context.Context, core.ConnectionInfo) error
	RecordCheck(context.Context, core.ConnectionInfo, core.CheckResult) error
	DisableConnection(context.Context, core.Scope, core.ConnectionID) error
	Connection(context.Context, core.Scope, core.ConnectionID) (core.ConnectionInfo, error)
	Connections(context.Context, core.Scope) ([]core.ConnectionInfo, error)
	Now() core.Micros
}

// Sealer encrypts keys at rest.
type Sealer interface {
	Seal(seal.Binding, provider.Secret) ([]byte, error)
	Open(seal.Binding, []byte) (provider.Secret, error)
}

// Service keeps the connections of all workspaces. All exported fields but
// Dropped and Reached are required.
type Service struct {
	Store    Store
	Sealer   Sealer
	Adapters provider.Set
	// CheckURL refuses endpoints that this service may not call.
	// It gives the URL in its plain form.
	CheckURL func(baseURL string) (*url.URL, error)
	Now      func() time.Time
	NewID    func() string
	// Dropped is told of a connection that is out of use, so that nothing is kept
	// open for it; nil for nobody.
	Dropped func(core.ConnectionID)
	// Reached is told of a connection whose endpoint has just answered a check;
	// nil for nobody.
	Reached func(context.Context, core.Scope, core.ConnectionID)

	// naming lets one name be taken at a time.
	naming sync.Mutex
}

// New is a connection to be made. Zero numbers mean the defaults.
type New struct {
	Name, BaseURL, ModelID, Protocol string
	Key                              provider.Secret
	MaxOutputTokens, ContextWindow   int
	MaxConcurrency                   int
	// PriceIn and PriceOut are declared rates in micro-dollars for a million
	// tokens; both or neither.
	PriceIn, PriceOut *int64
}

// Change replaces what is not nil. A new key counts the key version up.
type Change struct {
	Name                           *string
	Key                            *provider.Secret
	MaxOutputTokens, ContextWindow *int
}

// Defaults and bounds of a connection.
const (
	defaultMaxOutput = 4096
	defaultContext   = 32768
	maxTokens        = 10_000_000
	maxConcurrency   = 1024
	maxPrice         = 100_000_000_000 // $100,000 for a million tokens
	maxKey           = 4096
)

// Create checks and keeps a new connection. No request is sent.
func (s *Service) Create(ctx context.Context, sc core.Scope, n New) (core.ConnectionInfo, error) {
	c := core.ConnectionInfo{
		ID: core.ConnectionID(s.NewID()), Workspace: sc.Workspace, Name: n.Name, BaseURL: strings.TrimRight(n.BaseURL, "/"), ModelID: n.ModelID,
		Protocol: n.Protocol, Revision: 1, KeyVersion: 1, MaxOutputTokens: n.MaxOutputTokens, ContextWindow: n.ContextWindow,
		MaxConcurrency: n.MaxConcurrency, PriceIn: n.PriceIn, PriceOut: n.PriceOut,
	}
	if c.Protocol == "" {
		c.Protocol = core.OpenAIChat
	}
	if c.MaxOutputTokens == 0 {
		c.MaxOutputTokens = defaultMaxOutput
	}
	if c.ContextWindow == 0 {
		c.ContextWindow = defaultContext
	}
	if err := s.check(c, n.Key); err != nil {
		return core.ConnectionInfo{}, err
	}
	plain, err := s.CheckURL(c.BaseURL)
	if err != nil {
		return core.ConnectionInfo{}, err
	}
	c.BaseURL = plain.String()
	if err := s.seal(&c, n.Key); err != nil {
		return core.ConnectionInfo{}, err
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	if err := s.unique(ctx, sc, c); err != nil {
		return core.ConnectionInfo{}, err
	}
	if err := s.Store.InsertConnection(ctx, c); err != nil {
		return core.ConnectionInfo{}, fmt.Errorf("keep connection: %w", err)
	}
	return s.Store.Connection(ctx, sc, c.ID)
}

// unique refuses a name that another live connection of the workspace has: a
// person picks by name, and must not pick the wrong endpoint to pay.
func (s *Service) unique(ctx context.Context, sc core.Scope, c core.ConnectionInfo) error {
	all, err := s.Store.Connections(ctx, sc)
	if err != nil {
		return fmt.Errorf("read connections: %w", err)
	}
	for _, o := range all {
		if o.ID != c.ID && o.DisabledAt == 0 && strings.EqualFold(strings.TrimSpace(o.Name), strings.TrimSpace(c.Name)) {
			return core.Refuse(core.InvalidRequest, "another connection of this workspace has this name; choose another name or disable that one first. Nothing was kept").
				With("fields", []map[string]string{{"path": "name", "code": "duplicate"}}).With("connection_id", string(o.ID))
		}
	}
	return nil
}

// Get reads one connection.
func (s *Service) Get(ctx context.Context, sc core.Scope, id core.ConnectionID) (core.ConnectionInfo, error) {
	return s.Store.Connection(ctx, sc, id)
}

// List reads all connections, newest first, disabled ones too.
func (s *Service) List(ctx context.Context, sc core.Scope) ([]core.ConnectionInfo, error) {
	return s.Store.Connections(ctx, sc)
}

// Update changes a connection and counts its revision up: open quotes of the
// old revision go stale, and its check no longer counts.
func (s *Service) Update(ctx context.Context, sc core.Scope, id core.ConnectionID, ch Change) (core.ConnectionInfo, error) {
	c, err := s.Store.Connection(ctx, sc, id)
	if err != nil {
		return c, err
	}
	if c.DisabledAt != 0 {
		return c, core.Refuse(core.ModelUnavailable, "this connection is disabled and cannot be changed; make a new one")
	}
	if ch.Name != nil {
		c.Name = *ch.Name
	}
	if ch.MaxOutputTokens != nil {
		c.MaxOutputTokens = *ch.MaxOutputTokens
	}
	if ch.ContextWindow != nil {
		c.ContextWindow = *ch.ContextWindow
	}
	var key provider.Secret
	if ch.Key != nil {
		key = *ch.Key
	}
	if err := s.check(c, key); err != nil {
		return c, err
	}
	if ch.Key != nil {
		c.KeyVersion++
		if err := s.seal(&c, key); err != nil {
			return c, err
		}
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	if err := s.unique(ctx, sc, c); err != nil {
		return c, err
	}
	if err := s.Store.UpdateConnection(ctx, c); err != nil {
		return c, err
	}
	return s.Store.Connection(ctx, sc, id)
}

// Disable takes a connection out of use, for good.
func (s *Service) Disable(ctx context.Context, sc core.Scope, id core.ConnectionID) error {
	if err := s.Store.DisableConnection(ctx, sc, id); err != nil {
		return err
	}
	if s.Dropped != nil {
		s.Dropped(id)
	}
	return nil
}

func (s *Service) seal(c *core.ConnectionInfo, key provider.Secret) error {
	c.SealedKey = nil
	if key.Empty() {
		return nil
	}
	sealed, err := s.Sealer.Seal(Binding(*c), key)
	if err != nil {
		return fmt.Errorf("seal key: %w", err)
	}
	c.SealedKey = sealed
	return nil
}

// Key opens the credential for a call of a target; managed routes and
// connections without a key have none. A key that cannot be opened is a
// refusal with the code key_unopenable.
func (s *Service) Key(ctx context.Context, sc core.Scope, t core.Target) (provider.Secret, error) {
	if t.Kind != core.Connection {
		return provider.Secret{}, nil
	}
	c, err := s.Store.Connection(ctx, sc, t.ConnectionID)
	if err != nil {
		return provider.Secret{}, fmt.Errorf("read connection: %w", err)
	}
	if c.BaseURL != t.BaseURL {
		return provider.Secret{}, fmt.Errorf("open key of connection %s: its endpoint is not the one of the quote", c.ID)
	}
	key, err := s.open(c)
	if errors.Is(err, seal.ErrUnopenable) {
		return key, core.Refuse(codeUnopenable, "%s", unopenable)
	}
	return key, err
}

// Usable refuses a target whose stored key cannot be opened, before a run
// begins that could not call it.
func (s *Service) Usable(ctx context.Context, sc core.Scope, t core.Target) error {
	if _, err := s.Key(ctx, sc, t); errors.Is(err, &core.Refusal{Code: codeUnopenable}) {
		return err
	}
	return nil // anything else is for admission to judge
}

// unopenable is what can be done about a key that was sealed elsewhere.
const unopenable = "the connection's stored key cannot be opened: it was sealed with another master key or for another endpoint. " +
	"Restore the master key, or make a new connection with the provider key"

func (s *Service) open(c core.ConnectionInfo) (provider.Secret, error) {
	if len(c.SealedKey) == 0 {
		return provider.Secret{}, nil
	}
	key, err := s.Sealer.Open(Binding(c), c.SealedKey)
	if err != nil {
		return provider.Secret{}, fmt.Errorf("open key of connection %s: %w", c.ID, err)
	}
	return key, nil
}

// Binding is what the key of a connection is sealed for.
func Binding(c core.ConnectionInfo) seal.Binding {
	return seal.Binding{Workspace: c.Workspace, Connection: c.ID, BaseURL: c.BaseURL, Version: c.KeyVersion}
}

// check refuses what cannot be kept, all of it at once.
func (s *Service) check(c core.ConnectionInfo, key provider.Secret) error {
	var bad []map[string]string
	refuse := func(wrong bool, path, code string) {
		if wrong {
			bad = append(bad, map[string]string{"path": path, "code": code})
		}
	}
	refuse(!label(c.Name, 80), "name", "length_1_to_80")
	refuse(!label(c.ModelID, 200), "model_id", "length_1_to_200")
	refuse(c.BaseURL == "", "base_url", "required")
	_, spoken := s.Adapters[c.Protocol]
	refuse(!spoken || c.Protocol == core.PracticeProtocol, "protocol", "unknown_protocol")
	refuse(c.MaxOutputTokens < 1 || c.MaxOutputTokens > maxTokens, "max_output_tokens", "out_of_range")
	refuse(c.ContextWindow < 1 || c.ContextWindow > maxTokens, "context_window", "out_of_range")
	refuse(c.MaxConcurrency < 0 || c.MaxConcurrency > maxConcurrency, "max_concurrency", "out_of_range")
	refuse((c.PriceIn == nil) != (c.PriceOut == nil), "price_out_microusd", "both_or_neither")
	refuse(!price(c.PriceIn), "price_in_microusd", "out_of_range")
	refuse(!price(c.PriceOut), "price_out_microusd", "out_of_range")
	refuse(!plainKey(key.Reveal()), "api_key", "not_printable_ascii")
	if len(bad) == 0 {
		return nil
	}
	return core.Refuse(core.InvalidRequest, "the connection is not valid; details.fields says where. Nothing was kept").With("fields", bad)
}

func price(p *int64) bool { return p == nil || *p >= 0 && *p <= maxPrice }

// label accepts text that can be shown on one line.
func label(s string, most int) bool {
	return strings.TrimSpace(s) != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= most && strings.IndexFunc(s, unicode.IsControl) < 0 && strings.IndexFunc(s, plain.Hidden) < 0
}

// plainKey accepts no key, or one that a header can carry.
func plainKey(k string) bool {
	return len(k) <= maxKey && strings.IndexFunc(k, func(r rune) bool { return r < 0x21 || r > 0x7E }) < 0
}
