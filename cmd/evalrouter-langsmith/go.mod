module github.com/evalrouter/evalrouter/cmd/evalrouter-langsmith

go 1.26.0

require (
	github.com/evalrouter/evalrouter/langsmith v0.0.0
	github.com/evalrouter/evalrouter/lib v0.0.0
)

require github.com/google/uuid v1.6.0 // indirect
