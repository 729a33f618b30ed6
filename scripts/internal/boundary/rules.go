package boundary

// daemon is the prefix of the service's packages.
const daemon = "./cmd/evalrouterd/internal"

// Rules is the table of the repository. Grow it with the tree: a new module or a new kind of package gets its rule
// in the same change, with an example in the test that makes it fire.
func Rules() []Rule {
	var all []Rule
	all = append(all, libRules()...)
	all = append(all, bundleRules()...)
	all = append(all, langsmithRules()...)
	all = append(all, tracingRules()...)
	all = append(all, serviceRules()...)
	all = append(all, commandRules()...)
	all = append(all, workspaceRules()...)
	return append(all, generalRules()...)
}

// SiblingRules keeps adapters independent of each other.
func SiblingRules() []Siblings {
	return []Siblings{
		{
			Name: "provider siblings", Parent: daemon + "/provider", Common: []string{"exchange", "body", "sse", "usage", "verdict", "openaihost"},
			Why: "an adapter knows one provider; what adapters have in common is in provider and in packages that say so here",
		},
		{
			Name: "grade siblings", Parent: daemon + "/grade",
			Why: "a grader knows one method; what graders have in common is in grade itself",
		},
		{
			Name: "page siblings", Parent: "./tui/internal/page",
			Why: "a page opens another one by its route, which is data",
		},
	}
}

func libRules() []Rule {
	return []Rule{
		{
			Name: "usd stands alone", From: []string{"./lib/usd/..."},
			Deny: []string{"ours", "third"}, Allow: []string{"./lib/usd/..."},
			Why: "money is arithmetic on the standard library, at the bottom of everything",
		},
		{
			Name: "api is records", From: []string{"./lib/api/..."},
			Deny: []string{"ours", "third"}, Allow: []string{"./lib/api/...", "./lib/usd"},
			Why: "the wire records know money and nothing else of ours",
		},
		{
			Name: "client below its users", From: []string{"./lib"},
			Deny: []string{"ours"}, Allow: []string{"./lib/api/...", "./lib/usd", "./lib/process", "./lib/internal/..."},
			Why: "the client stands below profile, flow, local and the others, which import it",
		},
		{
			Name: "plain tools", From: []string{"./lib/stat/...", "./lib/redact/...", "./lib/plain/...", "./lib/process/..."},
			Deny: []string{"ours", "third"}, Allow: []string{"./lib/stat/...", "./lib/redact/...", "./lib/plain/...", "./lib/process/..."},
			Why: "statistics, redaction, the text sanitiser and how programs begin are standard library only, so that anything may use them",
		},
		{
			Name: "reports of records", From: []string{"./lib/report/..."},
			Deny: []string{"ours", "third", "net/http/...", "os", "os/exec"}, Allow: []string{"./lib/report/...", "./lib/api/...", "./lib/plain/...", "./lib/stat/...", "./lib/usd"},
			Why: "a report is a function of the wire records: the service and the clients render it alike",
		},
		{
			Name: "lib at the bottom", From: []string{"./lib/..."}, Reach: WithTests,
			Deny: []string{"ours"}, Allow: []string{"./lib/..."},
			Why: "lib is imported by the other modules and imports none of them",
		},
		{
			Name: "lib is light", From: []string{"./lib/..."}, Except: []string{"./lib/apitest/..."}, Reach: Transitive,
			Deny:  []string{"third"},
			Allow: []string{"github.com/google/uuid", "golang.org/x/oauth2/...", "golang.org/x/sys/..."},
			Why:   "applications import lib; its weight is uuid and oauth2",
		},
	}
}

// offline lists what reaches a network, another program or a database.
func offline() []string {
	return []string{"net", "net/http/...", "net/rpc/...", "net/smtp", "os/exec", "plugin", "database/sql/..."}
}

func bundleRules() []Rule {
	return []Rule{
		{
			Name: "bundle is offline", From: []string{"./bundle/..."}, Deny: offline(), Reach: Transitive,
			Why: "scoring and authoring reach no network, program, plug-in or database",
		},
		{
			Name: "bundle stands alone", From: []string{"./bundle/..."}, Reach: WithTests,
			Deny: []string{"ours"}, Allow: []string{"./bundle/..."},
			Why: "scoring is usable without the client and the service",
		},
		{
			Name: "bundle is light", From: []string{"./bundle/..."}, Reach: Transitive,
			Deny: []string{"third"},
			Allow: []string{
				"github.com/dlclark/regexp2/...", "golang.org/x/text/...", "go.yaml.in/yaml/...",
				"github.com/goccy/go-yaml/...", "github.com/klauspost/compress/...",
			},
			Why: "scoring takes regexp2, x/text, one YAML reader and a decompressor, nothing else",
		},
	}
}

func langsmithRules() []Rule {
	return []Rule{
		{
			Name: "connector on records", From: []string{"./langsmith/..."}, Reach: WithTests,
			Deny:  []string{"ours"},
			Allow: []string{"./langsmith/...", "./lib/api/...", "./lib/usd", "./lib/redact/...", "./lib/plain/..."},
			Why:   "the connector knows the wire records and redaction; its command joins it with the client",
		},
		{
			Name: "connector is light", From: []string{"./langsmith/..."}, Reach: Transitive,
			Deny: []string{"third"}, Why: "the connector needs the standard library only",
		},
		{
			Name: "connector decides", From: []string{"./langsmith"},
			Deny: []string{"net", "net/http/...", "os", "os/exec"},
			Why:  "what is read again and when is decided without network, disk or clock, so that a simulator can play it",
		},
		{
			Name: "fakes are for tests", From: []string{"ours"}, Except: []string{"./langsmith/fakesmith/...", "./scripts/..."},
			Deny: []string{"./langsmith/fakesmith/..."}, Why: "a fake LangSmith is linked into no program that is released",
		},
		{
			Name: "connector command", From: []string{"./cmd/evalrouter-langsmith/..."}, Reach: WithTests,
			Deny: []string{"ours"}, Allow: []string{"./cmd/evalrouter-langsmith/...", "./langsmith/...", "./lib/..."},
			Why: "the connector's command is a client; the other parts are other binaries",
		},
	}
}

func serviceRules() []Rule {
	middle := []string{
		daemon + "/store/...", daemon + "/engine/...", daemon + "/provider/...", daemon + "/grade/...", daemon + "/catalog/...",
	}
	return []Rule{
		{
			Name: "core at the bottom", From: []string{daemon + "/core/..."},
			Deny: []string{"ours"}, Allow: []string{daemon + "/core/...", "./lib/usd", "./bundle"},
			Why: "the rules of money and runs know amounts and plain benchmark types only",
		},
		{
			Name: "core is pure", From: []string{daemon + "/core/..."},
			Deny: []string{"net", "net/http/...", "os", "os/exec", "database/sql/...", "third"}, Allow: []string{"github.com/google/uuid"},
			Why: "a rule about money is a function of values: no file, network, process or database",
		},
		{
			Name: "wire records at the edge", From: []string{"./cmd/evalrouterd/..."}, Except: []string{daemon + "/httpapi/...", daemon + "/web/evals/..."},
			Deny: []string{"./lib", "./lib/api/..."},
			Why:  "httpapi alone translates between the wire and core; the pages about runs read what clients read",
		},
		{
			Name: "SQL in the store", From: []string{"./cmd/evalrouterd/..."}, Except: []string{daemon + "/store/..."},
			Deny: []string{
				"database/sql/...", "modernc.org/sqlite/...", "github.com/jackc/pgx/...", "github.com/pressly/goose/...",
			},
			Why: "store alone speaks SQL, so that one place decides what a transaction holds",
		},
		{
			Name: "the queue wakes", From: []string{"./cmd/evalrouterd/..."}, Except: []string{daemon + "/store/wake/..."},
			Deny: []string{"github.com/riverqueue/..."},
			Why:  "work is derived from the state of runs; one package knows that there is a queue, and it only wakes",
		},
		{
			Name: "adapters see no state", From: []string{daemon + "/provider/...", daemon + "/grade/..."}, Reach: Transitive,
			Deny: []string{daemon + "/store/...", daemon + "/engine/...", daemon + "/httpapi/...", daemon + "/daemon/..."},
			Why:  "a model call or a grade is a function of its request",
		},
		{
			Name: "providers do not grade", From: []string{daemon + "/provider/..."}, Reach: Transitive,
			Deny: []string{daemon + "/grade/..."}, Why: "judges receive their caller, providers know no grader",
		},
		{
			Name: "graders do not call", From: []string{daemon + "/grade/..."}, Reach: Transitive,
			Deny: []string{daemon + "/provider/..."}, Why: "a judge's call passes the ledger, so its caller is injected",
		},
		{
			Name: "what is written once only writes", From: []string{daemon + "/scribe/..."},
			Deny: []string{"ours", "third", "net", "os", "database/sql/..."}, Allow: []string{daemon + "/core/...", "./lib/usd"},
			Why: "spool and store write the same bytes, so neither of them may stand below the other's encoder",
		},
		{
			Name: "the routes' file is read, not used", From: []string{daemon + "/routefile/..."},
			Deny: []string{"ours", "net", "net/http/...", "os", "database/sql/..."}, Allow: []string{daemon + "/core/...", daemon + "/provider", "./lib/usd", "./lib/plain"},
			Why: "what an operator offers is a function of a file's bytes: its reader opens nothing and calls nobody",
		},
		{
			Name: "discovery only looks", From: []string{daemon + "/discover/..."},
			Deny: []string{"ours", "third"}, Allow: []string{daemon + "/discover/...", "./lib/plain"},
			Why: "looking for servers needs no credential, no store and no adapter, so that it can spend nothing",
		},
		{
			Name: "the front serves any handler", From: []string{daemon + "/front/...", daemon + "/gauge/..."},
			Deny: []string{"ours", "third"}, Allow: []string{daemon + "/front/...", daemon + "/gauge/..."},
			Why: "sockets, TLS and figures know nothing of what is asked, so that they can be read and tested alone",
		},
		{
			Name: "the log knows redaction", From: []string{daemon + "/logbook/..."},
			Deny: []string{"ours", "third"}, Allow: []string{daemon + "/logbook/...", "./lib/redact"},
			Why: "whatever writes a line writes it through here; what stands behind every line is small",
		},
		{
			Name: "strangers' files are read apart", From: []string{daemon + "/datafile/..."},
			Deny: []string{"ours", "net", "net/http/...", "os", "os/exec", "database/sql/..."}, Allow: []string{daemon + "/datafile/...", daemon + "/core/...", "./bundle/..."},
			Why: "what a file holds is a function of its bytes: its reader opens nothing and calls nobody",
		},
		{
			Name: "one columnar importer", From: []string{"ours"}, Except: []string{daemon + "/datafile/...", daemon + "/export/columns/..."},
			Deny: []string{"github.com/parquet-go/..."},
			Why:  "the library believes what a file says of itself; datafile looks at every page before it may, and columns reads none",
		},
		{
			Name: "the hub only fetches", From: []string{daemon + "/byob/hub/..."},
			Deny: []string{"ours", "third"}, Why: "fetching public files needs no credential, no store and no policy of its own",
		},
		{
			Name: "own benchmarks below", From: []string{daemon + "/byob/..."}, Reach: Transitive,
			Deny: []string{daemon + "/store/...", daemon + "/engine/...", daemon + "/provider/...", daemon + "/httpapi/..."},
			Why:  "making a benchmark calls no model, and declares what it keeps; the daemon joins them",
		},
		{
			Name: "people are decided below", From: []string{daemon + "/identity/...", daemon + "/oauth/..."}, Reach: Transitive,
			Deny: []string{daemon + "/store/...", daemon + "/engine/...", daemon + "/httpapi/...", daemon + "/web/...", "database/sql/..."},
			Why:  "who may do what is decided over what the store keeps, and said alike by pages and routes",
		},
		{
			Name: "pages beside the API", From: []string{daemon + "/web/..."},
			Deny: []string{daemon + "/httpapi/...", daemon + "/engine/...", daemon + "/provider/...", daemon + "/admission/...", "third"},
			Why:  "a page shows and asks; it speaks to no model, and needs no library for it",
		},
		{
			Name: "a browser is for tests", From: []string{"ours"}, Except: []string{daemon + "/web/webtest/..."},
			Deny: []string{daemon + "/web/webtest/..."}, Why: "what drives a browser is linked into no program",
		},
		{
			Name: "one hash of passwords", From: []string{"ours"}, Except: []string{daemon + "/password/..."},
			Deny: []string{"golang.org/x/crypto/argon2/..."}, Why: "the costs of a password's hash stand in one place",
		},
		{
			Name: "one sender of mail", From: []string{"./cmd/evalrouterd/..."}, Except: []string{daemon + "/courier/..."},
			Deny: []string{"net/smtp"}, Why: "mail is encrypted and no header is made of a stranger's text",
		},
		{
			Name: "spans are read apart", From: []string{daemon + "/otlp/...", daemon + "/dialect/..."},
			Deny: []string{"ours", "net", "net/http/...", "os", "os/exec", "database/sql/..."}, Allow: []string{daemon + "/otlp/...", daemon + "/core/...", "./lib/usd"},
			Why: "what a sender means is a function of the bytes that it sent: reading it opens nothing and calls nobody",
		},
		{
			Name: "spans need no collector", From: []string{"./cmd/evalrouterd/..."},
			Deny: []string{"go.opentelemetry.io/..."}, Reach: Transitive,
			Why: "spans are read field by field; the official types are for tests, and the collector's bring gRPC",
		},
		{
			Name: "traces below", From: []string{daemon + "/traces/...", daemon + "/datasets/..."}, Reach: Transitive,
			Deny: []string{daemon + "/store/...", daemon + "/engine/...", daemon + "/provider/...", daemon + "/httpapi/..."},
			Why:  "taking traces in and curating them spends nothing and calls no model, and declares what it keeps; the daemon joins them",
		},
		{
			Name: "judges are runs", From: []string{daemon + "/judging/..."}, Reach: Transitive,
			Deny: []string{daemon + "/admission/...", daemon + "/engine/...", daemon + "/httpapi/...", daemon + "/provider/openai/..."},
			Why:  "what a judge costs is spent by a run that somebody quoted and accepted: judging makes the questions and reads the answers, and can start nothing",
		},
		{
			Name: "engine and store apart", From: []string{daemon + "/engine/..."}, Reach: Transitive,
			Deny: []string{daemon + "/store/..."}, Why: "the engine declares the methods that it calls; the daemon joins them",
		},
		{
			Name: "store below", From: []string{daemon + "/store/..."}, Reach: Transitive,
			Deny: []string{daemon + "/engine/...", daemon + "/provider/...", daemon + "/grade/...", daemon + "/catalog/..."},
			Why:  "the store keeps what it is given and decides nothing",
		},
		{
			Name: "the edge is on top", From: middle, Reach: Transitive,
			Deny: []string{daemon + "/httpapi/...", daemon + "/daemon/..."},
			Why:  "core <- store, engine, provider, grade, catalog <- httpapi <- daemon",
		},
		{
			Name: "the wiring is on top", From: []string{daemon + "/..."}, Except: []string{daemon + "/daemon/..."},
			Deny: []string{daemon + "/daemon/..."}, Why: "only main imports the wiring",
		},
		{
			Name: "graders run no code", From: []string{daemon + "/grade/..."}, Reach: Transitive,
			Deny: []string{"os/exec", "plugin"}, Why: "graders never execute what a model or a package wrote",
		},
	}
}

func commandRules() []Rule {
	return []Rule{
		{
			Name: "light command line", From: []string{"./cmd/evalrouter/..."}, Reach: Transitive,
			Deny: []string{
				"database/sql", "modernc.org/...", "github.com/ncruces/go-sqlite3/...", "github.com/mattn/go-sqlite3/...",
				"github.com/riverqueue/...", "github.com/jackc/...", "github.com/gdamore/...", "github.com/rivo/...",
				"go.opentelemetry.io/...", "github.com/parquet-go/...", "github.com/apache/arrow-go/...",
				"github.com/danielgtaylor/huma/...",
			},
			Why: "the command line starts in milliseconds: no database, queue, workspace, tracing or columnar files",
		},
		{
			Name: "command line on lib", From: []string{"./cmd/evalrouter/..."},
			Deny: []string{"ours"}, Allow: []string{"./cmd/evalrouter/...", "./lib/..."},
			Why: "the command line is a client; the other parts are other binaries",
		},
		{
			Name: "benchmark tool is offline", From: []string{"./cmd/evalrouter-bench/..."}, Deny: offline(), Reach: Transitive,
			Why: "authoring needs no account and no network, and runs nothing of a package",
		},
		{
			Name: "benchmark tool on bundle", From: []string{"./cmd/evalrouter-bench/..."},
			Deny: []string{"ours"}, Allow: []string{"./cmd/evalrouter-bench/...", "./bundle/...", "./lib/plain", "./lib/process", "./lib/api", "./lib/report/evidence", "./lib/stat", "./lib/usd"},
			Why: "the tool is bundle with a command line; of lib it needs the text sanitiser, and what a run's evidence is made of",
		},
		{
			Name: "benchmark tool is light", From: []string{"./cmd/evalrouter-bench/..."}, Reach: Transitive,
			Deny: []string{"third"},
			Allow: []string{
				"github.com/peterbourgon/ff/...", "github.com/dlclark/regexp2/...", "golang.org/x/text/...", "go.yaml.in/yaml/...",
				"github.com/klauspost/compress/...",
			},
			Why: "the tool adds a flag parser to what bundle links",
		},
		{
			Name: "commands apart", From: []string{"./cmd/evalrouterd/..."}, Reach: WithTests,
			Deny: []string{"./cmd/..."}, Allow: []string{"./cmd/evalrouterd/..."},
			Why: "no binary imports another one",
		},
	}
}

func workspaceRules() []Rule {
	return []Rule{
		{
			Name: "workspace on lib", From: []string{"./tui/..."},
			Deny: []string{"ours"}, Allow: []string{"./tui/...", "./lib/..."},
			Why: "the workspace is a client: money, names and recovery are decided in lib",
		},
		{
			Name: "kit at the bottom", From: []string{"./tui/internal/kit"}, Reach: WithTests,
			Deny: []string{"ours"}, Allow: []string{"./tui/internal/kit/...", "./lib/plain"},
			Why: "what screens are made of knows no service, and takes text that lib/plain made safe",
		},
		{
			Name: "pages read by interfaces", From: []string{"./tui/internal/page/..."},
			Deny: []string{"./tui/internal/source/...", "./tui", "os", "net", "net/http/..."},
			Why:  "a page declares what it reads; the table of places joins it with the service",
		},
		{
			Name: "workspace is light", From: []string{"./tui/..."}, Except: []string{"./tui/internal/kit/kittest/..."}, Reach: Transitive,
			Deny: []string{"third"},
			Allow: []string{
				"github.com/gdamore/...", "github.com/google/uuid", "github.com/lucasb-eyer/go-colorful/...", "github.com/rivo/uniseg/...",
				"golang.org/x/oauth2/...", "golang.org/x/sys/...", "golang.org/x/term/...", "golang.org/x/text/...",
			},
			Why: "the workspace adds one terminal library to the client",
		},
		{
			Name: "workspace command", From: []string{"./cmd/evalrouter-tui/..."}, Reach: WithTests,
			Deny: []string{"ours"}, Allow: []string{"./cmd/evalrouter-tui/...", "./tui/...", "./lib/..."},
			Why: "the workspace's command is a client; the other parts are other binaries",
		},
		{
			Name: "agent's server", From: []string{"./cmd/evalrouter-mcp/..."}, Reach: WithTests,
			Deny: []string{"ours"}, Allow: []string{"./cmd/evalrouter-mcp/...", "./lib/..."},
			Why: "what an agent gets is a client; the other parts are other binaries",
		},
		{
			Name: "one protocol importer", From: []string{"ours"}, Except: []string{"./cmd/evalrouter-mcp/...", "./scripts/..."},
			Deny: []string{"github.com/modelcontextprotocol/..."}, Why: "the protocol of agents weighs on no other program",
		},
	}
}

func generalRules() []Rule {
	return []Rule{
		{
			Name: "scripts are never imported", From: []string{"ours"}, Except: []string{"./scripts/..."}, Reach: WithTests,
			Deny: []string{"./scripts/..."}, Why: "scripts are not released",
		},
		{
			Name: "one terminal importer", From: []string{"ours"}, Except: []string{"./tui/internal/kit/..."}, Reach: WithTests,
			Deny: []string{"github.com/gdamore/..."}, Why: "only tui/internal/kit knows the terminal library",
		},
		{
			Name: "one sign-in", From: []string{"ours"}, Except: []string{"./lib/signin/..."},
			Deny: []string{"golang.org/x/oauth2/..."}, Why: "lib/signin gets tokens, keeps them and decides when they are replaced; whoever only sends one must not be able to",
		},
		{
			Name: "a keychain only when asked for", From: []string{"ours"}, Except: []string{"./cmd/evalrouter"},
			Deny: []string{"github.com/zalando/go-keyring/..."}, Why: "the command line reaches a keychain when it is built with the tag keyring, and nothing else does",
		},
		{
			Name: "schemas are generated", From: []string{"ours"}, Except: []string{"./scripts/..."}, Reach: Transitive,
			Deny: []string{"github.com/invopop/jsonschema/..."}, Why: "the schema generator is linked into no binary",
		},
		{
			Name: "no provider kits", From: []string{"ours"}, Reach: WithTests,
			Deny: []string{"github.com/openai/...", "github.com/anthropics/...", "google.golang.org/genai/..."},
			Why:  "provider kits retry by themselves, and a retry is a money decision",
		},
		{
			Name: "one assertion dialect", From: []string{"ours"}, Reach: WithTests,
			Deny: []string{"github.com/stretchr/testify/..."}, Why: "tests use the standard library and go-cmp",
		},
	}
}
