module github.com/evalrouter/evalrouter/cmd/evalrouter-tui

go 1.26.0

require (
	github.com/evalrouter/evalrouter/lib v0.0.0
	github.com/evalrouter/evalrouter/tui v0.0.0
	golang.org/x/mod v0.43.0
	golang.org/x/sys v0.38.0
)

require (
	github.com/gdamore/encoding v1.0.1 // indirect
	github.com/gdamore/tcell/v2 v2.13.10 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/lucasb-eyer/go-colorful v1.3.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/oauth2 v0.38.0 // indirect
	golang.org/x/term v0.37.0 // indirect
	golang.org/x/text v0.31.0 // indirect
)
