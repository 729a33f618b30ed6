package traces

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
)

type connectBody struct {
	// Secret is the key that was just made, "" otherwise.
	Secret      string
	Connections []core.TraceConnection
	// Example is the connection that examples are about; its id is a word to
	// replace before there is one.
	Example core.TraceConnection
	Origin  string
	Key     string
	Name    string
}

// shownConnections is how many a workspace can have, and the page shows all.
const shownConnections = core.MaxTraceConnections

func (h *Handlers) connect(r *http.Request, v visit) (web.Shown, error) {
	return h.connections(r, v, connectBody{}, web.Shown{Good: saved(r)})
}

func saved(r *http.Request) string {
	if r.URL.Query().Get("done") == "saved" {
		return "Saved."
	}
	return ""
}

func (h *Handlers) connections(r *http.Request, v visit, b connectBody, s web.Shown) (web.Shown, error) {
	var err error
	if b.Connections, err = h.Service.Connections.Connections(r.Context(), v.Scope, nil, shownConnections); err != nil {
		return web.Shown{}, err
	}
	if b.Example.ID == "" {
		b.Example.ID = "CONNECTION_ID"
		for _, c := range b.Connections {
			if c.DisabledAt == 0 {
				b.Example = c
				break
			}
		}
	}
	b.Origin, b.Key = h.Origin, "INGEST_KEY"
	if b.Secret != "" {
		b.Key = b.Secret
	}
	s.Title = "Connect agent"
	return h.body("connect", v, s, b)
}

func (h *Handlers) changeConnection(r *http.Request, v visit) (web.Shown, error) {
	f, a := r.PostForm, traces.Asker{Scope: v.Scope, User: v.User.ID, Address: v.Address}
	id := core.TraceConnectionID(f.Get("id"))
	var b connectBody
	var err error
	good := "Saved."
	switch f.Get("do") {
	case "make":
		name := f.Get("name")
		b.Name = name
		b.Example, b.Secret, err = h.Service.Create(r.Context(), a, f.Get("kind"), traces.Settings{Name: &name})
		if err == nil {
			b.Name = ""
		}
		good = ""
	case "rotate":
		b.Example, b.Secret, err = h.Service.Rotate(r.Context(), a, id)
		good = ""
	case "disable":
		err = h.Service.Disable(r.Context(), a, id)
		good = "The connection and its keys have ended. Its traces stay until their time is over."
	case "save":
		var in traces.Settings
		if in, err = captureOf(f); err == nil {
			_, err = h.Service.Update(r.Context(), v.Scope, id, in)
		}
	default:
		err = core.Refuse(core.InvalidRequest, "The form said nothing that is done here. Nothing was done.")
	}
	if text, ok := wrong(err); ok {
		return h.connections(r, v, b, web.Shown{Bad: text, Status: http.StatusUnprocessableEntity})
	}
	if err != nil {
		return web.Shown{}, err
	}
	// The key stands on this one page: an address to come back to would hold it.
	return h.connections(r, v, b, web.Shown{Good: good})
}

// captureOf reads what a form says about what is kept.
func captureOf(f map[string][]string) (in traces.Settings, err error) {
	get := func(name string) string {
		if len(f[name]) == 0 {
			return ""
		}
		return strings.TrimSpace(f[name][0])
	}
	inputs, outputs := get("inputs") != "", get("outputs") != ""
	in.Inputs, in.Outputs = &inputs, &outputs
	numbers := []struct {
		name string
		to   **int
	}{{"days", &in.Days}, {"value", &in.MaxValue}}
	for _, n := range numbers {
		v, err := strconv.Atoi(get(n.name))
		if err != nil {
			return in, &traces.Field{Path: n.name, Message: "days and bytes are whole numbers; nothing was changed"}
		}
		*n.to = &v
	}
	fields := []string{}
	for _, one := range strings.FieldsFunc(get("fields"), func(r rune) bool { return r == ',' || r == '\n' }) {
		if one = strings.TrimSpace(one); one != "" {
			fields = append(fields, one)
		}
	}
	in.Fields = &fields
	return in, nil
}

// wrong is the sentence of what is wrong with a form.
func wrong(err error) (string, bool) {
	var a *traces.Field
	var b *datasets.Field
	var refusal *core.Refusal
	switch {
	case errors.As(err, &a):
		return sentence(a.Message), true
	case errors.As(err, &b):
		return sentence(b.Message), true
	case errors.As(err, &refusal) && refusal.Code != core.NotFound:
		return sentence(refusal.Message), true
	}
	return "", false
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
