module github.com/evalrouter/evalrouter/lib

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/uuid v1.6.0
	golang.org/x/oauth2 v0.38.0
	pgregory.net/rapid v1.3.0
)
