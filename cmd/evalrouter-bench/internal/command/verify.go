package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/evalrouter/evalrouter/bundle/pack"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

var digestShape = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (a *App) verifyCommand() *argv.Command {
	want := ""
	return &argv.Command{
		Name: "verify", Args: "BUNDLE", Short: "Say whether a bundle is whole, valid and the one meant", Operands: [2]int{1, 1},
		Long: "A benchmark's bundle is canonical when it is byte for byte what bundle writes\nfor its files. Of the evidence of a run (evalrouter export RUN --format bundle)\nevery answer is graded again, and every interval and charge computed again.",
		Flags: []argv.Flag{{Long: "sha256", Value: "DIGEST", Usage: "the digest that the file must have", Set: func(s string) error {
			if !digestShape.MatchString(s) {
				return errors.New("want 64 lower-case hex digits")
			}
			want = s
			return nil
		}}},
		Examples: []string{Program + " verify ./evalrouter-bundle-acme-my-benchmark-0.1.0.zip"},
		Run:      func(ctx context.Context, operands []string) error { return a.verify(ctx, operands[0], want) },
	}
}

type verifyResult struct {
	Path      string      `json:"path"`
	Bytes     int64       `json:"bytes"`
	SHA256    string      `json:"sha256"`
	Canonical bool        `json:"canonical"`
	Report    pack.Report `json:"report"`
}

func (a *App) verify(ctx context.Context, path, want string) (err error) {
	if is, err := a.verifyEvidence(path, want); is || err != nil {
		return err
	}
	s, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if !s.sealed {
		return &failure{code: codeInput, message: path + " is a folder; verify reads a bundle", facts: []string{"nothing was checked"}, next: []string{Program + " validate " + shellWord(path)}}
	}
	res := verifyResult{Path: path}
	if res.SHA256, res.Bytes, err = digestOf(path); err != nil {
		return err
	}
	if want != "" && want != res.SHA256 {
		return wrongDigest(path, res.SHA256)
	}
	rep, canonical, err := pack.Bundle(ctx, s, options(true), io.Discard)
	if err != nil {
		return err
	}
	res.Report, res.Canonical = rep, canonical == res.SHA256
	return a.value(res, func() {
		a.findings(rep.Findings, rep.Warnings)
		a.line("%s is whole and valid: %s/%s %s, %d tasks", path, rep.Namespace, rep.Name, rep.Version, rep.Tasks)
		a.line("  sha256 %s", res.SHA256)
		a.line("  package sha256 %s", rep.Package)
		if res.Canonical {
			a.line("  byte for byte what %s bundle writes", Program)
		} else {
			a.line("  not written by %s bundle, which would write %s", Program, canonical)
		}
	})
}

func wrongDigest(path, sum string) error {
	return &failure{code: codeDigest, message: path + " is not the file that is meant: its SHA-256 is " + sum, facts: []string{"its contents were not looked at"}}
}

func digestOf(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close() // read only
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), n, nil
}
