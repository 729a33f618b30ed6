module github.com/evalrouter/evalrouter/cmd/evalrouter-bench

go 1.26.0

require (
	github.com/evalrouter/evalrouter/bundle v0.0.0
	github.com/evalrouter/evalrouter/lib v0.0.0
	github.com/google/go-cmp v0.7.0
	github.com/peterbourgon/ff/v4 v4.0.0-alpha.4
	github.com/rogpeppe/go-internal v1.16.0
)

require (
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)
