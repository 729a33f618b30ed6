package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

// Template is a SQLite database that is filled once in a test program, where each
// test would take longer to fill its own than for everything else.
type Template struct {
	// Now dates what is in it, and Fill fills it; without it there are the tables.
	Now  func() time.Time
	Fill func(*store.Store) error

	once sync.Once
	raw  []byte
	err  error
}

// Copy writes the database to a file that is not there yet.
func (x *Template) Copy(t testing.TB, path string) {
	t.Helper()
	x.once.Do(func() {
		x.err = errors.New("the template was not filled") // where Fill panics
		x.raw, x.err = x.fill(filepath.Join(t.TempDir(), "template.db"))
	})
	if x.err != nil {
		t.Fatal(x.err)
	}
	if err := os.WriteFile(path, x.raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (x *Template) fill(path string) ([]byte, error) {
	s, err := store.Open(context.Background(), store.Options{Path: path, Now: x.Now})
	if err != nil {
		return nil, err
	}
	if x.Fill != nil {
		if err := x.Fill(s); err != nil {
			s.Close()
			return nil, err
		}
	}
	if err := s.Close(); err != nil { // what is in its log goes into the file
		return nil, err
	}
	return os.ReadFile(path)
}
