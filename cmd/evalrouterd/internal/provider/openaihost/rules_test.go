package openaihost_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openaihost"
)

// Whatever an error answer holds, it is decided the same way each time, and
// only a rejection claims that no work was done.
func FuzzClassify(f *testing.F) {
	for _, s := range []string{`{"error":{"code":"insufficient_quota"}}`, `{"error":["x"]}`, `{"detail":[{"msg":"x"}]}`, `[{"error":{"details":[{"retryDelay":"3.5s"}]}}]`,
		`{"error":{"innererror":{"code":"ResponsibleAIPolicyViolation"},"metadata":{"reasons":["x"]}}}`, `<html>`, ``} {
		f.Add(uint16(400), uint8(0), []byte(s))
		f.Add(uint16(429), uint8(1), []byte(s))
		f.Add(uint16(503), uint8(2), []byte(s))
	}
	kinds := []openaihost.Kind{openaihost.OpenAI, openaihost.Azure, openaihost.OpenRouter, openaihost.Compatible}
	f.Fuzz(func(t *testing.T, status uint16, which uint8, raw []byte) {
		k := kinds[which%4]
		o := k.Classify(int(status), raw)
		if d := cmp.Diff(o, k.Classify(int(status), raw)); d != "" {
			t.Fatal(d)
		}
		switch o.Class {
		case provider.Rejected:
			if o.Reach == "" || o.Code == "" {
				t.Fatalf("rejected, and yet %+v", o)
			}
			if status >= 500 && o.Reach != provider.Overload {
				t.Fatalf("a %d proves no work: %+v", status, o)
			}
		case provider.Unknown:
			if o.Code == "" || o.Refused {
				t.Fatalf("unknown, and yet %+v", o)
			}
		case provider.Answered: // what Azure filters is billed
			if k != openaihost.Azure || !o.Refused || o.UsageState != provider.UsageByDesign {
				t.Fatalf("answered, and yet %+v", o)
			}
		default:
			t.Fatalf("class %q", o.Class)
		}
		if o.HasRetryAfter && o.Reach != provider.Overload {
			t.Fatalf("a wait without an overload: %+v", o)
		}
		if o.Message == "" {
			t.Fatal("no message")
		}
	})
}
