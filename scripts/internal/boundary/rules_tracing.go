package boundary

func tracingRules() []Rule {
	return []Rule{
		{
			Name: "capture on redaction", From: []string{"./tracing/..."}, Reach: WithTests,
			Deny: []string{"ours"}, Allow: []string{"./tracing/...", "./lib/redact"},
			Why: "an agent that is traced takes redaction along and nothing else of ours",
		},
		{
			Name: "capture is light", From: []string{"./tracing/..."}, Except: []string{"./tracing/fakeotlp/..."}, Reach: Transitive,
			Deny: []string{"third"},
			Allow: []string{
				"go.opentelemetry.io/otel/...", "go.opentelemetry.io/auto/sdk/...", "github.com/go-logr/...", "github.com/cespare/xxhash/...",
				"google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/errors", "google.golang.org/protobuf/internal/detrand",
				"github.com/google/uuid", "golang.org/x/sys/...",
			},
			Why: "capture adds the SDK of OpenTelemetry to an agent, and neither gRPC nor protobuf's reflection",
		},
		{
			Name: "capture is for agents", From: []string{"ours"}, Except: []string{"./tracing/...", "./scripts/..."}, Reach: WithTests,
			Deny: []string{"./tracing/..."}, Why: "agents import the capture library; none of our own parts needs it",
		},
		{
			Name: "client without OpenTelemetry", From: []string{"./lib/...", "./langsmith/...", "./bundle/...", "./tui/..."}, Reach: Transitive,
			Deny: []string{"go.opentelemetry.io/..."}, Why: "OpenTelemetry is isolated in the module tracing",
		},
		{
			Name: "no gRPC", From: []string{"ours"}, Reach: WithTests,
			Deny: []string{"google.golang.org/grpc/...", "go.opentelemetry.io/otel/exporters/...", "go.opentelemetry.io/proto/otlp/collector/..."},
			Why:  "the exporters and the collector types of OpenTelemetry bring gRPC, which costs 5 MiB",
		},
		{
			Name: "fake receivers are for tests", From: []string{"ours"}, Except: []string{"./tracing/fakeotlp/...", "./scripts/..."},
			Deny: []string{"./tracing/fakeotlp/..."}, Why: "a fake receiver is linked into no program that is released",
		},
	}
}
