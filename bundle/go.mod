module github.com/evalrouter/evalrouter/bundle

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.20.4
	pgregory.net/rapid v1.3.0
)

require go.yaml.in/yaml/v3 v3.0.6

require golang.org/x/text v0.44.0
