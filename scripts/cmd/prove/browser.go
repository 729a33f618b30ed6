package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
)

// browser walks the sign-in with a real Chromium. Without one the test says so
// and is skipped, which -v shows.
func browser(pictures string) error {
	fmt.Println("browser: both ways of signing in, and every page at 360, 768, 1024 and 1440 pixels, light and dark")
	args := []string{"test", "./cmd/evalrouterd/internal/daemon", "-count=1", "-timeout=10m", "-v", "-run=TestBrowser_"}
	if pictures != "" {
		dir, err := filepath.Abs(pictures)
		if err != nil {
			return err
		}
		args = append(args, "-pictures="+dir)
	}
	return show(exec.Command("go", args...))
}

// refresh lets many clients refresh one sign-in at the same moment.
func refresh(n int) error {
	fmt.Printf("refresh: %d rounds of fifty clients\n", n)
	return show(exec.Command("go", "test", "./cmd/evalrouterd/internal/httpapi", "-count=1", "-timeout=30m", "-v", "-run=TestSignIn_RefreshRace", "-refresh.rounds="+strconv.Itoa(n)))
}

// timing measures what a comparison of keys takes.
func timing(n int) error {
	fmt.Printf("timing: %d comparisons of each kind\n", n)
	return show(exec.Command("go", "test", "./cmd/evalrouterd/internal/seal", "-count=1", "-timeout=10m", "-v", "-run=TestMatches_Timing", "-timing.rounds="+strconv.Itoa(n)))
}
