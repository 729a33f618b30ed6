module github.com/evalrouter/evalrouter/langsmith

go 1.26.0

require (
	github.com/evalrouter/evalrouter/lib v0.0.0
	github.com/google/go-cmp v0.7.0
	pgregory.net/rapid v1.3.0
)
