// Package release tells whether a newer release of the workspace is out.
//
// The decisions:
//
//   - It only asks: nothing is downloaded, installed or run, and of the answer
//     nothing but a version is believed.
//   - Not being able to tell is no error. Nobody opened the workspace to hear of
//     it.
//   - The first opening in 24 hours asks, the others tell what it heard, a failure
//     included, so that a network that swallows the question is asked once a day.
//   - Whoever chose a version is not told to leave it: a program built from a
//     checkout, and one with a file evalrouter.pinned beside it, never ask.
package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

const (
	// address tells the newest release of this project.
	address = "https://api.github.com/repos/evalrouter/evalrouter/releases/latest"
	// Limit is how long the question may take.
	Limit = 3 * time.Second
	// remembered is how long an answer does.
	remembered = 24 * time.Hour
	maxAnswer  = 1 << 20
	// Pin is the file beside a program whose version was chosen.
	Pin = "evalrouter.pinned"
	// file remembers the last answer.
	file = "release.json"
)

// Doer sends a request, as http.Client does.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Check is what it takes to tell. All of it is required.
type Check struct {
	// Version is this program's, as its module has it.
	Version string
	Env     func(name string) (string, bool)
	// Dir is where the answer is remembered.
	Dir string
	// Program is where this program stands.
	Program func() (string, error)
	HTTP    Doer
	Now     func() time.Time
}

// answer is what is remembered.
type answer struct {
	AskedAt time.Time `json:"asked_at"`
	Newest  string    `json:"newest"` // "" when it could not be told
}

// Newer is the newest release when it is newer than this program, without the
// "v", and "" otherwise.
func (c Check) Newer(ctx context.Context) string {
	if !c.wanted() {
		return ""
	}
	known, ok := c.recall()
	if !ok {
		newest, err := c.ask(ctx)
		if ctx.Err() != nil { // the workspace was left before an answer came
			return ""
		}
		if err != nil {
			newest = ""
		}
		known = answer{AskedAt: c.Now().UTC(), Newest: newest}
		_ = c.remember(known) // without a memory the next opening asks again
	}
	if semver.Compare(known.Newest, c.Version) > 0 {
		return known.Newest[1:]
	}
	return ""
}

func (c Check) wanted() bool {
	if v, ok := c.Env("EVALROUTER_NO_UPDATE_CHECK"); ok && v != "" && v != "0" {
		return false
	}
	if !semver.IsValid(c.Version) || semver.Build(c.Version) != "" || module.IsPseudoVersion(c.Version) {
		return false // built from a checkout
	}
	program, err := c.Program()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(filepath.Dir(program), Pin))
	return errors.Is(err, os.ErrNotExist)
}

func (c Check) recall() (a answer, ok bool) {
	raw, err := os.ReadFile(filepath.Join(c.Dir, file))
	if err != nil || json.Unmarshal(raw, &a) != nil || a.Newest != "" && !semver.IsValid(a.Newest) {
		return answer{}, false
	}
	age := c.Now().Sub(a.AskedAt)
	return a, age >= 0 && age < remembered
}

// remember replaces the file as a whole, so that another workspace never reads
// half of it.
func (c Check) remember(a answer) error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(c.Dir, file+".*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone once it was renamed
	_, err = f.Write(raw)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(c.Dir, file))
}

func (c Check) ask(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	at := address
	if v, ok := c.Env("EVALROUTER_UPDATE_URL"); ok && v != "" {
		at = v
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "application/json")
	res, err := c.HTTP.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the newest release: status %d", res.StatusCode)
	}
	return version(io.LimitReader(res.Body, maxAnswer))
}

// version reads the answer of a list of releases, or of a module proxy.
func version(r io.Reader) (string, error) {
	var told struct {
		Tag     string `json:"tag_name"`
		Version string
	}
	if err := json.NewDecoder(r).Decode(&told); err != nil {
		return "", err
	}
	v := told.Tag
	if v == "" {
		v = told.Version
	}
	if !semver.IsValid(v) || semver.Prerelease(v) != "" || semver.Build(v) != "" || len(v) > 40 {
		return "", errors.New("the answer names no release")
	}
	return semver.Canonical(v), nil
}
