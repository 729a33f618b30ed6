package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// browser walks the sign-in with a real Chromium. Without one the test says so
// and is skipped, which -v shows.
func browser(pictures string) error {
	fmt.Println("browser: both ways of signing in, and every page at 360 and 1440 pixels")
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
