package providertest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// CheckParse holds what an adapter reads from any bytes to the rules of an
// outcome: the same bytes read the same again, nothing but an answer is
// charged for, and usage adds up.
func CheckParse(t *testing.T, a provider.Adapter, raw []byte) {
	t.Helper()
	o := a.Parse(raw)
	if teller, can := a.(provider.Teller); can {
		if text, ok := teller.Text(raw); ok && (o.Class != provider.Answered || o.Text != text) {
			t.Errorf("the text alone is %q, the answer is %s with %q", text, o.Class, o.Text)
		}
	}
	if d := cmp.Diff(o, a.Parse(raw)); d != "" {
		t.Fatalf("the same bytes read differently:\n%s", d)
	}
	switch {
	case o.Class != provider.Answered && o.Class != provider.Unknown:
		t.Errorf("class %s without a status", o.Class)
	case o.Class == provider.Unknown && (o.Code == "" || o.Text != "" || o.Usage != nil):
		t.Errorf("unknown, and yet %+v", o)
	case o.Malformed && (o.Class != provider.Answered || o.Code != core.CodeInvalidOutput || o.Text != ""):
		t.Errorf("malformed, and yet %+v", o)
	case o.Refused && (o.Class != provider.Answered || o.Code != core.CodeRefused):
		t.Errorf("refused, and yet %+v", o)
	case (o.Usage != nil) != (o.UsageState == provider.UsageReported):
		t.Errorf("usage %+v is %q", o.Usage, o.UsageState)
	case o.Usage != nil && !o.Usage.Believable(core.MaxBelievable/10, core.MaxBelievable/10):
		t.Errorf("usage %+v", o.Usage)
	}
}
