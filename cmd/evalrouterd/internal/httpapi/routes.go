package httpapi

import "net/http"

// routes is the whole HTTP surface. Account routes and those of
// workspaces' own data come from the packages beside this one.
func (s *Server) routes() []route {
	var all []route
	all = append(all, catalogRoutes()...)
	all = append(all, connectionRoutes()...)
	all = append(all, runRoutes()...)
	for _, subject := range s.o.Subjects {
		for _, r := range subject.Routes() {
			all = append(all, r.made)
		}
	}
	return append(all, serviceRoutes()...)
}

func catalogRoutes() []route {
	read := func(path, id, summary string) route {
		return route{method: http.MethodGet, path: path, id: id, summary: summary, access: public, tag: "catalog"}
	}
	return []route{
		read("/v1/evals", "list-evals", "Evaluations by reference").on(handle((*Server).listEvals)),
		read("/v1/evals/{ref}", "get-eval", "One evaluation: name or name@version").on(handle((*Server).getEval)),
		read("/v1/catalog/benchmarks", "list-benchmarks", "Benchmark versions").on(handle((*Server).listBenchmarks)),
		read("/v1/catalog/benchmarks/{slug}", "get-benchmark", "Every version of a benchmark").on(handle((*Server).getBenchmark)),
		read("/v1/catalog/models", "list-models", "Managed routes and their prices").on(handle((*Server).listModels)),
		read("/v1/catalog/models/{id}", "get-model", "One managed route").on(handle((*Server).getModel)),
		read("/v1/catalog/execution-options", "get-execution-options", "Limits of a run").on(handle((*Server).executionOptions)),
		read("/v1/catalog/environments", "list-environments", "Environments; this service has none").on(handle((*Server).listEnvironments)),
		read("/v1/catalog/environments/{family}", "get-environment", "One environment family").on(handle((*Server).getEnvironment)),
		read("/v1/catalog/compatibility", "list-compatible-routes", "Which models can run a benchmark").on(handle((*Server).compatibility)),
	}
}

func connectionRoutes() []route {
	at := func(method, path, id, scope, summary string, body bool) route {
		return route{method: method, path: path, id: id, summary: summary, access: scoped, scope: scope, body: body, tag: "connections"}
	}
	return []route{
		at(http.MethodGet, "/v1/connections", "list-connections", scopeConnectionsRead, "Your own endpoints", false).on(handle((*Server).listConnections)),
		at(http.MethodPost, "/v1/connections", "create-connection", scopeConnectionsWrite, "Register an endpoint", true).on(handle((*Server).createConnection)),
		at(http.MethodPost, "/v1/connections/discover", "discover-servers", scopeConnectionsRead, "Model servers on the machine of a local service", false).on(handle((*Server).discoverServers)),
		at(http.MethodPost, "/v1/connections/{id}/check", "check-connection", scopeConnectionsWrite, "Send one small request", false).on(handle((*Server).checkConnection)),
		at(http.MethodPatch, "/v1/connections/{id}", "update-connection", scopeConnectionsWrite, "Change an endpoint or rotate its key", true).on(handle((*Server).updateConnection)),
		at(http.MethodDelete, "/v1/connections/{id}", "disable-connection", scopeConnectionsWrite, "Take an endpoint out of use", false).on(handle((*Server).disableConnection)),
	}
}

func runRoutes() []route {
	read := func(path, id, summary string) route {
		return route{method: http.MethodGet, path: path, id: id, summary: summary, access: scoped, scope: scopeEvalRead, tag: "runs"}
	}
	write := func(path, id, summary string, body bool) route {
		return route{method: http.MethodPost, path: path, id: id, summary: summary, access: scoped, scope: scopeEvalWrite, body: body, tag: "runs"}
	}
	return []route{
		write("/v1/quotes", "create-quote", "What a run would be; starts nothing", true).on(handle((*Server).createQuote)),
		read("/v1/quotes/{id}", "get-quote", "A quote as it stands").on(handle((*Server).getQuote)),
		write("/v1/runs", "create-run", "Start the run of a quote", true).on(handle((*Server).createRun)),
		read("/v1/runs", "list-runs", "Runs, newest first").on(handle((*Server).listRuns)),
		read("/v1/runs/{id}", "get-run", "A run as it stands").on(handle((*Server).getRun)),
		read("/v1/runs/{id}/receipt", "get-receipt", "What a run cost").on(handle((*Server).getReceipt)),
		read("/v1/runs/{id}/executions", "list-executions", "Sandbox executions; this service has none").on(handle((*Server).listExecutions)),
		read("/v1/runs/{id}/events", "list-events", "The log of a run").on(handle((*Server).listEvents)),
		read("/v1/runs/{id}/tasks", "list-tasks", "The tasks of a run").on(handle((*Server).listTasks)),
		read("/v1/runs/{id}/tasks/{index}", "get-task", "One task with its answer").on(handle((*Server).getTask)),
		write("/v1/runs/{id}/cancel", "cancel-run", "Ask a run to stop", false).on(handle((*Server).cancelRun)),
		read("/v1/runs/{id}/results", "get-results", "The frozen result of a run").on(handle((*Server).getResults)),
		read("/v1/runs/{id}/export", "export-run", "A finished run as a file").on(handle((*Server).exportRun)),
		write("/v1/evaluations", "create-evaluation", "Quote and start in one step", true).on(handle((*Server).createEvaluation)),
		read("/v1/evaluations/{id}", "get-evaluation", "A run that was started so").on(handle((*Server).getRun)),
	}
}

func serviceRoutes() []route {
	return []route{
		route{method: http.MethodGet, path: "/v1/meta", id: "get-meta", summary: "What this service is and can", access: public, tag: "service"}.on(handle((*Server).getMeta)),
		route{method: http.MethodGet, path: "/v1/openapi.json", id: "get-openapi", summary: "This description", access: public, tag: "service"}.on(handle((*Server).getOpenAPI)),
		route{method: http.MethodGet, path: "/healthz", id: "healthz", summary: "The process answers", access: public, tag: "service"}.on(handle((*Server).healthz)),
		route{method: http.MethodGet, path: "/readyz", id: "readyz", summary: "The service can work", access: public, tag: "service"}.on(handle((*Server).readyz)),
	}
}
