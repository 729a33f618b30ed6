package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/rekey"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// rotateBatch is how many keys one transaction seals anew.
const rotateBatch = 100

// keysRotateCommand gives the installation another master key. It goes on where
// an earlier one died.
func keysRotateCommand(f *flagSet) action {
	data := f.data()
	return func(ctx context.Context, sys System, _ []string) error {
		at, err := data(sys)
		if err != nil {
			return err
		}
		return withData(ctx, at, func(o *open) error {
			lock, err := o.dir.takeLock() // a running service goes on sealing with the key that it has read
			if err != nil {
				return err
			}
			defer lock.Close()
			path := o.dir.path(masterFile)
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				return refuse("master_key_missing", "%s is missing; nothing was done. Only a key that is there can be replaced; 'evalrouterd keys reset' is for one that is lost", path)
			}
			if err := o.unlock(ctx); err != nil {
				return err
			}
			r := rekey.Rotation{File: seal.File{Path: path, Random: rand.Reader}, Seals: o.store.Seals(), Batch: rotateBatch}
			if o.postgres != "" {
				if err := o.nobodyServes(ctx); err != nil {
					return err
				}
				r.Needs = func(ctx context.Context, check string) error { return o.store.SetMeta(ctx, masterMeta, check) }
			}
			rep, err := r.Run(ctx)
			if err != nil {
				return fmt.Errorf("rotate the master key: %w; the keys can be used as they are, and the same command goes on from here", err)
			}
			o.sayRotated(sys, rep)
			return nil
		})
	}
}

// nobodyServes refuses while a service of the shared database runs: it would
// not know the new key.
func (o *open) nobodyServes(ctx context.Context) error {
	n, err := o.store.Seals().Serving(ctx)
	if err != nil {
		return err
	}
	if n > 0 {
		return refuse("database_in_use", "services of %s are running, and they would not know the new master key; nothing was done. Stop every one of them first", postgres.Shown(o.postgres))
	}
	return nil
}

func (o *open) sayRotated(sys System, rep rekey.Report) {
	fmt.Fprintf(sys.Stdout, "The master key is another one. Provider keys sealed with it: %d. API keys are as they were.\n", rep.Resealed+rep.Already)
	if len(rep.Void) > 0 {
		fmt.Fprintf(sys.Stdout, "Keys that could not be opened before and cannot now, %d; their owners must give them again:\n", len(rep.Void))
		for _, id := range rep.Void {
			fmt.Fprintf(sys.Stdout, "  connection %s\n", plain.Line(string(id)))
		}
	}
	if o.postgres != "" {
		fmt.Fprintf(sys.Stdout, "Copy %s to the data directory of every process before you start it.\n", o.dir.path(masterFile))
	}
	fmt.Fprintln(sys.Stdout, "A backup that was made before needs the master key of then: take a new one, or keep the old file with the old backup.")
}
