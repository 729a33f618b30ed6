package boundary_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/scripts/internal/boundary"
)

// edges builds packages from lines such as "a -> b c": a imports b and c. "a ~> b" is an import of a's tests.
// "./" stands for the repository's root; a path without a dot in its first element is standard library.
func edges(lines ...string) []boundary.Package {
	packages := map[string]*boundary.Package{}
	get := func(path string) *boundary.Package {
		if rest, ok := strings.CutPrefix(path, "./"); ok {
			path = boundary.Root + "/" + rest
		}
		if packages[path] == nil {
			first, _, _ := strings.Cut(path, "/")
			packages[path] = &boundary.Package{Path: path, Standard: !strings.Contains(first, ".")}
		}
		return packages[path]
	}
	for _, line := range lines {
		fields := strings.Fields(line)
		from := get(fields[0])
		for _, to := range fields[2:] {
			if fields[1] == "~>" {
				from.TestImports = append(from.TestImports, get(to).Path)
			} else {
				from.Imports = append(from.Imports, get(to).Path)
			}
		}
	}
	var all []boundary.Package
	for _, p := range packages {
		all = append(all, *p)
	}
	return all
}

// broken lists, for every rule, trees that break it.
func broken() map[string][][]string {
	const d = "./cmd/evalrouterd/internal/"
	return map[string][][]string{
		"usd stands alone":                   {{"./lib/usd -> ./lib/api"}, {"./lib/usd -> github.com/google/uuid"}},
		"api is records":                     {{"./lib/api -> ./lib"}, {"./lib/api -> github.com/google/uuid"}},
		"client below its users":             {{"./lib -> ./lib/flow"}, {"./lib -> ./lib/profile"}},
		"plain tools":                        {{"./lib/stat -> ./lib/usd"}, {"./lib/redact -> golang.org/x/text/width"}},
		"reports of records":                 {{"./lib/report -> ./lib"}, {"./lib/report -> golang.org/x/net/html"}, {"./lib/report -> os"}},
		"lib at the bottom":                  {{"./lib/flow -> ./bundle"}, {"./lib ~> ./cmd/evalrouter/x"}},
		"lib is light":                       {{"./lib -> golang.org/x/oauth2", "golang.org/x/oauth2 -> go.opentelemetry.io/otel"}, {"./lib/local -> modernc.org/sqlite"}},
		"bundle is offline":                  {{"./bundle -> net/http"}, {"./bundle/generic -> golang.org/x/text/width", "golang.org/x/text/width -> os/exec"}},
		"bundle stands alone":                {{"./bundle -> ./lib/usd"}},
		"bundle is light":                    {{"./bundle/sob -> github.com/google/uuid"}},
		"core at the bottom":                 {{d + "core -> ./lib/api"}, {d + "core -> ./bundle/generic"}, {d + "core/money -> " + d + "store"}},
		"core is pure":                       {{d + "core -> os"}, {d + "core -> database/sql"}},
		"wire records at the edge":           {{d + "engine -> ./lib/api"}, {"./cmd/evalrouterd -> ./lib"}},
		"SQL in the store":                   {{d + "catalog -> database/sql"}, {"./cmd/evalrouterd -> github.com/jackc/pgx/v5"}},
		"the queue wakes":                    {{d + "engine -> github.com/riverqueue/river"}, {d + "store -> github.com/riverqueue/river/riverdriver/riverpgxv5"}},
		"adapters see no state":              {{d + "provider/chat -> " + d + "engine"}, {d + "grade/exact -> " + d + "catalog", d + "catalog -> " + d + "store"}},
		"providers do not grade":             {{d + "provider -> " + d + "grade"}},
		"graders do not call":                {{d + "grade/judge -> " + d + "provider"}},
		"what is written once only writes":   {{d + "scribe -> os"}, {d + "scribe -> " + d + "store"}},
		"the routes' file is read, not used": {{d + "routefile -> os"}, {d + "routefile -> " + d + "netguard"}},
		"discovery only looks":               {{d + "discover -> " + d + "connection"}, {d + "discover -> go.yaml.in/yaml/v3"}},
		"the front serves any handler":       {{d + "front -> " + d + "core"}, {d + "gauge -> golang.org/x/sys/unix"}},
		"the log knows redaction":            {{d + "logbook -> " + d + "seal"}},
		"strangers' files are read apart":    {{d + "datafile -> os"}, {d + "datafile -> " + d + "store"}},
		"one columnar importer":              {{d + "byob -> github.com/parquet-go/parquet-go"}},
		"the hub only fetches":               {{d + "byob/hub -> " + d + "netguard"}},
		"own benchmarks below":               {{d + "byob -> " + d + "store"}},
		"people are decided below":           {{d + "oauth -> " + d + "store/access"}, {d + "identity -> database/sql"}},
		"pages beside the API":               {{d + "web -> " + d + "httpapi"}},
		"a browser is for tests":             {{d + "web -> " + d + "web/webtest"}},
		"one hash of passwords":              {{d + "identity -> golang.org/x/crypto/argon2"}},
		"one sender of mail":                 {{d + "identity -> net/smtp"}},
		"spans are read apart":               {{d + "otlp -> net/http"}, {d + "dialect -> " + d + "store"}},
		"spans need no collector":            {{d + "otlp -> go.opentelemetry.io/proto/otlp/trace/v1"}},
		"traces below":                       {{d + "traces -> " + d + "store/traces"}, {d + "datasets -> " + d + "provider"}},
		"judges are runs":                    {{d + "judging -> " + d + "admission"}, {d + "judging -> " + d + "engine"}},
		"engine and store apart":             {{d + "engine -> " + d + "store"}},
		"store below":                        {{d + "store -> " + d + "engine"}},
		"the edge is on top":                 {{d + "catalog -> " + d + "httpapi"}},
		"the wiring is on top":               {{d + "httpapi -> " + d + "daemon"}},
		"graders run no code":                {{d + "grade/exact -> os/exec"}},
		"light command line":                 {{"./cmd/evalrouter -> ./lib", "./lib -> database/sql"}, {"./cmd/evalrouter -> ./lib", "./lib -> modernc.org/sqlite"}, {"./cmd/evalrouter/internal/x -> go.opentelemetry.io/otel"}},
		"command line on lib":                {{"./cmd/evalrouter -> ./bundle"}},
		"commands apart":                     {{d + "daemon ~> ./cmd/evalrouter/internal/argv"}},
		"scripts are never imported":         {{"./lib ~> ./scripts/internal/replay"}, {"./cmd/evalrouter -> ./scripts/x"}},
		"workspace on lib":                   {{"./tui -> ./bundle"}, {"./tui/internal/show -> ./cmd/evalrouter/internal/argv"}},
		"kit at the bottom":                  {{"./tui/internal/kit -> ./lib/api"}, {"./tui/internal/kit ~> ./tui/internal/show"}},
		"pages read by interfaces":           {{"./tui/internal/page/home -> ./tui/internal/source"}, {"./tui/internal/page/home -> net/http"}},
		"page siblings":                      {{"./tui/internal/page/home -> ./tui/internal/page/catalog"}},
		"workspace is light":                 {{"./tui -> ./lib", "./lib -> modernc.org/sqlite"}, {"./tui/internal/show -> github.com/rivo/tview"}},
		"workspace command":                  {{"./cmd/evalrouter-tui ~> ./cmd/evalrouter/internal/viewer"}},
		"agent's server":                     {{"./cmd/evalrouter-mcp ~> ./cmd/evalrouter/internal/argv"}},
		"one protocol importer":              {{"./cmd/evalrouter -> github.com/modelcontextprotocol/go-sdk/mcp"}},
		"one terminal importer":              {{"./tui/internal/page -> github.com/gdamore/tcell/v2"}},
		"one sign-in":                        {{"./lib -> golang.org/x/oauth2"}, {"./cmd/evalrouter/internal/signin -> golang.org/x/oauth2"}},
		"a keychain only when asked for":     {{"./lib/signin -> github.com/zalando/go-keyring"}, {"./cmd/evalrouter/internal/signin -> github.com/zalando/go-keyring"}},
		"schemas are generated":              {{"./cmd/evalrouterd -> github.com/danielgtaylor/huma/v2", "github.com/danielgtaylor/huma/v2 -> github.com/invopop/jsonschema"}},
		"no provider kits":                   {{"./cmd/evalrouterd ~> github.com/openai/openai-go/v3"}},
		"one assertion dialect":              {{"./bundle ~> github.com/stretchr/testify/assert"}},
		"provider siblings":                  {{d + "provider/chat -> " + d + "provider/completions"}, {d + "provider/exchange -> " + d + "provider/chat"}},
		"grade siblings":                     {{d + "grade/exact/x -> " + d + "grade/judge"}},
		"connector on records":               {{"./langsmith -> ./lib"}, {"./langsmith/source ~> ./lib/apitest"}},
		"connector is light":                 {{"./langsmith/source -> github.com/google/uuid"}},
		"connector decides":                  {{"./langsmith -> net/http"}, {"./langsmith -> os"}},
		"fakes are for tests":                {{"./cmd/evalrouter-langsmith -> ./langsmith/fakesmith"}},
		"connector command":                  {{"./cmd/evalrouter-langsmith/internal/command -> ./cmd/evalrouter/internal/argv"}, {"./cmd/evalrouter-langsmith -> ./bundle"}},
		"capture on redaction":               {{"./tracing -> ./lib"}, {"./tracing ~> ./lib/apitest"}},
		"capture is light":                   {{"./tracing/internal/otlp -> google.golang.org/protobuf/proto"}, {"./tracing -> go.opentelemetry.io/otel/sdk/trace", "go.opentelemetry.io/otel/sdk/trace -> google.golang.org/grpc"}},
		"capture is for agents":              {{"./cmd/evalrouter -> ./tracing"}, {"./lib ~> ./tracing/fakeotlp"}},
		"client without OpenTelemetry":       {{"./lib -> golang.org/x/oauth2", "golang.org/x/oauth2 -> go.opentelemetry.io/otel"}, {"./langsmith -> go.opentelemetry.io/proto/otlp/trace/v1"}},
		"no gRPC":                            {{"./cmd/evalrouterd -> go.opentelemetry.io/proto/otlp/collector/trace/v1"}, {"./tracing ~> go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"}},
		"fake receivers are for tests":       {{"./tracing -> ./tracing/fakeotlp"}},
		"benchmark tool is offline":          {{"./cmd/evalrouter-bench -> ./bundle/pack", "./bundle/pack -> os/exec"}},
		"benchmark tool on bundle":           {{"./cmd/evalrouter-bench -> ./lib/flow"}, {"./cmd/evalrouter-bench/internal/command -> ./lib"}},
		"benchmark tool is light":            {{"./cmd/evalrouter-bench -> github.com/google/uuid"}},
	}
}

func rulesBroken(packages []boundary.Package) map[string]bool {
	names := map[string]bool{}
	for _, v := range boundary.Check(packages, boundary.Rules(), boundary.SiblingRules()) {
		names[v.Rule] = true
	}
	return names
}

func TestEveryRuleFires(t *testing.T) {
	t.Parallel()
	examples := broken()
	var names []string
	for _, r := range boundary.Rules() {
		names = append(names, r.Name)
	}
	for _, s := range boundary.SiblingRules() {
		names = append(names, s.Name)
	}
	for _, name := range names {
		if len(examples[name]) == 0 {
			t.Errorf("rule %q has no example that breaks it", name)
		}
		for _, lines := range examples[name] {
			if !rulesBroken(edges(lines...))[name] {
				t.Errorf("rule %q does not fire on %q", name, lines)
			}
		}
		delete(examples, name)
	}
	for name := range examples {
		t.Errorf("an example is for %q, which is no rule", name)
	}
}

// The tree as it is designed breaks nothing.
func TestDesignedTreePasses(t *testing.T) {
	t.Parallel()
	const d = "./cmd/evalrouterd/internal/"
	packages := edges(
		"net/http -> net os",
		"github.com/google/uuid -> database/sql/driver", // the interface only, no database
		"golang.org/x/oauth2 -> net/http golang.org/x/oauth2/internal",
		"./lib/usd -> math/big",
		"./lib/usd ~> pgregory.net/rapid ./lib/usd",
		"./lib/api -> ./lib/usd encoding/json",
		"./lib -> ./lib/api ./lib/usd net/http github.com/google/uuid",
		"./lib/signin -> ./lib ./lib/api ./lib/flow ./lib/profile ./lib/internal/filelock golang.org/x/oauth2",
		"./lib/flow -> ./lib ./lib/api ./lib/profile",
		"./lib/apitest -> ./lib github.com/google/go-cmp/cmp",
		"./bundle -> encoding/json io/fs net/url",
		"./bundle/generic -> ./bundle github.com/dlclark/regexp2",
		d+"core -> ./lib/usd ./bundle time",
		d+"core ~> os github.com/google/go-cmp/cmp",
		d+"store -> "+d+"core database/sql modernc.org/sqlite ./lib/usd",
		d+"engine -> "+d+"core "+d+"provider",
		d+"engine ~> "+d+"store",
		d+"provider -> net/http "+d+"core",
		d+"provider/chat -> "+d+"provider "+d+"provider/exchange net/http",
		d+"provider/exchange -> "+d+"provider net/http",
		d+"grade -> ./bundle/generic "+d+"core",
		d+"httpapi -> "+d+"core "+d+"store ./lib/api",
		d+"daemon -> "+d+"httpapi "+d+"store "+d+"engine "+d+"provider/chat",
		"./cmd/evalrouterd -> "+d+"daemon github.com/peterbourgon/ff/v4",
		"./cmd/evalrouter -> ./lib ./lib/flow github.com/peterbourgon/ff/v4 os/exec",
		"./langsmith -> ./lib/api ./lib/redact time",
		"./langsmith/source -> ./langsmith ./lib/plain net/http",
		"./langsmith/fakesmith -> ./lib/api net/http",
		"./cmd/evalrouter-langsmith -> ./langsmith ./lib",
		"./cmd/evalrouter-langsmith ~> ./langsmith/fakesmith",
		"./tracing -> ./lib/redact ./tracing/internal/otlp go.opentelemetry.io/otel/sdk/trace",
		"./tracing ~> ./tracing/fakeotlp",
		"./tracing/internal/otlp -> google.golang.org/protobuf/encoding/protowire",
		"./tracing/fakeotlp -> google.golang.org/protobuf/proto go.opentelemetry.io/proto/otlp/trace/v1",
		"./bundle/pack -> ./bundle ./bundle/archive golang.org/x/text/unicode/norm",
		"./cmd/evalrouter-bench -> ./bundle/pack ./lib/plain github.com/peterbourgon/ff/v4",
		"./scripts/internal/x -> ./lib/api github.com/invopop/jsonschema",
		"./tui/internal/kit -> github.com/gdamore/tcell/v2",
	)
	for _, v := range boundary.Check(packages, boundary.Rules(), boundary.SiblingRules()) {
		t.Error(v)
	}
}

func TestViolationNamesChainAndReason(t *testing.T) {
	t.Parallel()
	rule := boundary.Rule{
		Name: "light", From: []string{"./cmd/..."}, Deny: []string{"database/sql"}, Reach: boundary.Transitive, Why: "no database",
	}
	found := boundary.Check(edges("./cmd/x -> ./lib", "./lib -> a.example/b", "a.example/b -> database/sql"), []boundary.Rule{rule}, nil)
	var got []string
	for _, v := range found {
		got = append(got, v.String())
	}
	want := []string{boundary.Root + "/cmd/x imports " + boundary.Root + "/lib imports a.example/b imports database/sql: no database (light)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func lay(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A real workspace, read through the go command: one module breaks a rule only through its sibling.
func TestLoad(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	lay(t, root, map[string]string{
		"go.work":                "go 1.26.0\n\nuse (\n\t./bundle\n\t./lib\n)\n",
		"bundle/go.mod":          "module " + boundary.Root + "/bundle\n\ngo 1.26.0\n",
		"bundle/bundle.go":       "package bundle\n\nimport _ \"" + boundary.Root + "/lib\"\n",
		"lib/go.mod":             "module " + boundary.Root + "/lib\n\ngo 1.26.0\n",
		"lib/lib.go":             "package lib\n\nimport _ \"os/exec\"\n",
		"lib/lib_test.go":        "package lib_test\n\nimport _ \"testing\"\n",
		"lib/usd/usd.go":         "package usd\n",
		"lib/usd/inside_test.go": "package usd\n\nimport _ \"embed\"\n",
	})
	packages, err := boundary.Load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]boundary.Package{}
	for _, p := range packages {
		got[p.Path] = p
	}
	if p := got[boundary.Root+"/lib"]; p.Standard || len(p.Imports) != 1 || len(p.TestImports) != 1 {
		t.Errorf("lib was read as %+v", p)
	}
	if p := got[boundary.Root+"/lib/usd"]; len(p.TestImports) != 1 || p.TestImports[0] != "embed" {
		t.Errorf("lib/usd was read as %+v", p)
	}
	if !got["os/exec"].Standard {
		t.Error("os/exec is not read as standard library")
	}
	names := rulesBroken(packages)
	want := map[string]bool{"bundle is offline": true, "bundle stands alone": true}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("rules broken (-want +got):\n%s", diff)
	}
}

// linked is what the go command would link of a folder of this very tree, which
// holds at least has.
func linked(t *testing.T, folder, has string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "./"+folder+"/...")
	cmd.Dir = filepath.Join("..", "..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list what %s links: %v", folder, err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, has) {
		t.Errorf("%s does not link %s: this is another tree", folder, has)
	}
	return packages
}

// Whoever imports capture gets OpenTelemetry without gRPC.
func TestTree_TRC10_OpenTelemetryIsIsolated(t *testing.T) {
	t.Parallel()
	for _, p := range linked(t, "tracing", "go.opentelemetry.io/otel/sdk/trace") {
		if strings.HasPrefix(p, "google.golang.org/grpc") {
			t.Errorf("tracing links %s", p)
		}
	}
	for _, p := range linked(t, "lib", "net/http") {
		if strings.HasPrefix(p, "go.opentelemetry.io/") {
			t.Errorf("lib links %s", p)
		}
	}
}

// Optional parts stay out of what everybody gets: OpenTelemetry is in tracing
// only, a keychain in the build that asks for one, and neither the validator of
// benchmarks nor the connector to LangSmith is in the client or the command line.
func TestTree_PKG11_OptionalPartsStayOut(t *testing.T) {
	t.Parallel()
	optional := []string{
		"go.opentelemetry.io/", "github.com/zalando/go-keyring", "github.com/godbus/", "github.com/danieljoos/", "github.com/gdamore/tcell", "modernc.org/", "github.com/jackc/",
		boundary.Root + "/tracing", boundary.Root + "/bundle", boundary.Root + "/langsmith", boundary.Root + "/tui",
	}
	for _, folder := range []string{"lib", "cmd/evalrouter"} {
		for _, p := range linked(t, folder, "net/http") {
			for _, o := range optional {
				if strings.HasPrefix(p, o) {
					t.Errorf("%s links %s", folder, p)
				}
			}
		}
	}
}

// A package that does not load is an error and hides no other.
func TestLoadGoesOnAfterABrokenPackage(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	lay(t, root, map[string]string{
		"go.work":      "go 1.26.0\n\nuse ./lib\n",
		"lib/go.mod":   "module " + boundary.Root + "/lib\n\ngo 1.26.0\n",
		"lib/a/a.go":   "package a\n\nimport _ \"" + boundary.Root + "/lib/absent\"\n",
		"lib/usd/u.go": "package usd\n\nimport _ \"" + boundary.Root + "/lib/api\"\n",
		"lib/api/a.go": "package api\n",
	})
	packages, err := boundary.Load(t.Context(), root)
	if err == nil || !strings.Contains(err.Error(), "lib/absent") {
		t.Errorf("err = %v, want one that names lib/absent", err)
	}
	if !rulesBroken(packages)["usd stands alone"] {
		t.Error("the violation in another package was not found")
	}
}
