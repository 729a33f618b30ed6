//go:build !unix

package main

import (
	"errors"
	"time"
)

// cpu is not measured here.
func cpu() (time.Duration, error) { return 0, errors.New("no CPU time on this system") }
