// Package run is the commands that make, follow and stop runs.
package run
