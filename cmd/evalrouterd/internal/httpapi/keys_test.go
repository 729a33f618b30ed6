package httpapi_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var made, next api.APIKeyCreated
	h.send("POST", "/v1/api-keys", object{"name": " ci ", "scopes": []string{"eval:write", "eval:read", "eval:read"}, "spend_ceiling_microusd": "5000000", "expires_at": "2026-12-01T00:00:00Z"}).want(t, 200).into(t, &made)
	if made.Name != "ci" || strings.Join(made.Scopes, " ") != "eval:read eval:write" || *made.SpendCeilingMicrousd != 5*usd.Dollar || !strings.HasPrefix(made.Secret, made.Prefix+"_") || made.RevokedAt != nil {
		t.Errorf("%+v", made)
	}
	h.send("POST", "/v1/api-keys/"+made.ID+"/rotate", object{"overlap_seconds": 60}).want(t, 200).into(t, &next)
	if next.ID == made.ID || next.Secret == made.Secret || *next.SpendCeilingMicrousd != 5*usd.Dollar || !next.ExpiresAt.Equal(*made.ExpiresAt) {
		t.Errorf("%+v", next)
	}
	h.send("DELETE", "/v1/api-keys/"+next.ID, nil).want(t, 200)
	var page api.Page[api.APIKeyRecord]
	r := h.send("GET", "/v1/api-keys?limit=1", nil).want(t, 200).into(t, &page)
	if len(page.Data) != 1 || page.NextCursor == nil || page.Data[0].ID != next.ID || page.Data[0].RevokedAt == nil {
		t.Errorf("%s", r.body)
	}
	r = h.send("GET", "/v1/api-keys?limit=1&cursor="+*page.NextCursor, nil).want(t, 200).into(t, &page)
	if len(page.Data) != 1 || page.NextCursor != nil || page.Data[0].ID != made.ID || strings.Contains(string(r.body), "secret") {
		t.Errorf("%s", r.body)
	}
	for _, tt := range []struct {
		name  string
		body  object
		field string
	}{
		{"no name", object{"name": " ", "scopes": []string{"eval:read"}}, "name"},
		{"a long name", object{"name": strings.Repeat("x", 81), "scopes": []string{"eval:read"}}, "name"},
		{"no scopes", object{"name": "n", "scopes": []string{}}, "scopes"},
		{"an unknown scope", object{"name": "n", "scopes": []string{"eval:read", "root"}}, "scopes"},
		{"ended already", object{"name": "n", "scopes": []string{"eval:read"}, "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"},
		{"a ceiling of nothing", object{"name": "n", "scopes": []string{"eval:read"}, "spend_ceiling_microusd": "0"}, "spend_ceiling_microusd"},
		{"a ceiling around which keys are made", object{"name": "n", "scopes": []string{"keys:admin"}, "spend_ceiling_microusd": "1"}, "scopes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := h.send("POST", "/v1/api-keys", tt.body).refused(t, 422, "invalid_request")
			if f := p.Error.Details["fields"].([]any)[0].(map[string]any); f["path"] != tt.field {
				t.Errorf("details.fields is %v", p.Error.Details)
			}
		})
	}
	h.send("POST", "/v1/api-keys/"+made.ID+"/rotate", object{"overlap_seconds": 86401}).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/api-keys/"+next.ID+"/rotate", object{}).refused(t, 422, "invalid_request")
}

// Nobody gives a key more than they have: a key no more than its own scopes,
// and a person no more than their role.
func TestAPIKeys_NoMoreThanOnesOwn(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	keeper := as(h.key(core.Local, nil, "keys:admin", "eval:read"))
	h.send("POST", "/v1/api-keys", object{"name": "n", "scopes": []string{"eval:write"}}, keeper).refused(t, 403, "insufficient_scope")
	h.send("POST", "/v1/api-keys", object{"name": "n", "scopes": []string{"eval:read"}}, keeper).want(t, 200)
	var strong api.APIKeyCreated
	h.send("POST", "/v1/api-keys", object{"name": "n", "scopes": []string{"eval:write"}}).want(t, 200).into(t, &strong)
	h.send("POST", "/v1/api-keys/"+strong.ID+"/rotate", object{}, keeper).refused(t, 403, "insufficient_scope")
	ada := h.person("ada")
	h.joins(ada, core.Local, core.RoleAdmin)
	here := header("X-Workspace-Id", "local")
	var made api.APIKeyCreated
	h.send("POST", "/v1/api-keys", object{"name": "n", "scopes": httpapi.Scopes()}, as(h.session(ada)), here).want(t, 200).into(t, &made)
	if made.CreatedBy == nil || *made.CreatedBy != string(ada.ID) {
		t.Errorf("created by %v", made.CreatedBy)
	}
	short := h.session(ada, "keys:admin", "eval:read") // the sign-in was given less than the role has
	h.send("POST", "/v1/api-keys", object{"name": "n", "scopes": []string{"eval:write"}}, as(short), here).refused(t, 403, "insufficient_scope")
	h.joins(ada, core.Local, core.RoleViewer)
	h.send("GET", "/v1/api-keys", nil, as(h.session(ada)), here).refused(t, 403, "insufficient_scope")
}

// A key's ceiling bounds the caps of all that it starts.
func TestAPIKeys_Ceiling(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	token := h.key(core.Local, func(k *core.APIKey) { k.Ceiling, k.Lineage = 1_000_000, k.ID }, "eval:read", "eval:write")
	k, _, err := h.keys.Identify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	k.MAC = []byte("m")
	if err := h.store.Access().AddKey(t.Context(), k, core.By{Entry: "e"}); err != nil {
		t.Fatal(err)
	}
	start := func(n string) reply {
		var q struct{ ID string }
		h.send("POST", "/v1/quotes", newQuote(nil), as(token)).want(t, 200).into(t, &q) // of a cap of one dollar
		return h.send("POST", "/v1/runs", object{"quote_id": q.ID}, as(token), keyed(n))
	}
	start("one").want(t, 200)
	// Whether the first run is over or not, it has cost something or may.
	p := start("two")
	if got := p.refused(t, 403, "spend_ceiling_reached").Error.Details; got["ceiling_microusd"] != "1000000" {
		t.Errorf("details %v", got)
	}
	start("one").want(t, 409) // another quote under a key that was used: not a way around either
}
