module github.com/evalrouter/evalrouter/scripts

go 1.26.0

require (
	github.com/evalrouter/evalrouter/bundle v0.0.0
	github.com/evalrouter/evalrouter/langsmith v0.0.0
	github.com/google/go-cmp v0.7.0
	golang.org/x/mod v0.43.0
)

require go.yaml.in/yaml/v3 v3.0.6 // indirect

require github.com/evalrouter/evalrouter/lib v0.0.0 // indirect
