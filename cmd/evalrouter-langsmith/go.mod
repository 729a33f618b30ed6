module github.com/evalrouter/evalrouter/cmd/evalrouter-langsmith

go 1.26.0

require (
	github.com/evalrouter/evalrouter/langsmith v0.0.0
	github.com/evalrouter/evalrouter/lib v0.0.0
	github.com/google/go-cmp v0.7.0
	github.com/rogpeppe/go-internal v1.16.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	golang.org/x/sys v0.26.0 // indirect
	golang.org/x/tools v0.26.0 // indirect
)
