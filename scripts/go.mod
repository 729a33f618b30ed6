module github.com/evalrouter/evalrouter/scripts

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	golang.org/x/mod v0.43.0
)
