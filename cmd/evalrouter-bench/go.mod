module github.com/evalrouter/evalrouter/cmd/evalrouter-bench

go 1.26.0

require (
	github.com/evalrouter/evalrouter/bundle v0.0.0
	github.com/evalrouter/evalrouter/lib v0.0.0
	github.com/peterbourgon/ff/v4 v4.0.0-alpha.4
)

require (
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/text v0.44.0 // indirect
)
