package daemon

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/secretfile"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
)

// place is where an installation keeps everything: a data directory, and
// PostgreSQL in place of the database in it where one is given. The address may
// hold a password: it is never printed, and never comes from an argument.
type place struct {
	dir      string
	postgres string
	now      func() time.Time
}

// databaseVariable gives the address of PostgreSQL to every command but local.
const databaseVariable = "EVALROUTERD_DATABASE_URL"

// data declares --data with the directory of the on-demand service as its
// default, and the ways to name a PostgreSQL.
func (f *flagSet) data() func(System) (place, error) {
	dir := f.dir()
	address := f.StringLong("database", "", "keep everything in the PostgreSQL at this `URL`, postgres://USER@HOST/NAME; one with a password comes from --database-file or "+databaseVariable)
	file := f.StringLong("database-file", "", "a `FILE` with the address of PostgreSQL, readable by its owner only")
	return func(sys System) (place, error) {
		d, err := dir(sys)
		if err != nil {
			return place{}, err
		}
		p := place{dir: d, now: sys.now}
		p.postgres, err = databaseAddress(sys, *address, *file)
		return p, err
	}
}

// dir declares --data alone.
func (f *flagSet) dir() func(System) (string, error) {
	v := f.StringLong("data", "", "the data directory `DIR`")
	return func(sys System) (string, error) {
		if *v != "" {
			return *v, nil
		}
		if dir := sys.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "evalrouter"), nil
		}
		if home := sys.Getenv("HOME"); filepath.IsAbs(home) {
			return filepath.Join(home, ".local", "share", "evalrouter"), nil
		}
		return "", refuse("invalid_input", "there is no home directory to keep data in; give one with --data")
	}
}

// databaseAddress is the address given in one of the three ways, "" for none.
func databaseAddress(sys System, argument, file string) (string, error) {
	switch {
	case argument != "" && file != "":
		return "", refuse("invalid_input", "--database and --database-file name the same thing; give one of them")
	case argument != "":
		u, err := addressed(argument)
		if err != nil {
			return "", err
		}
		if _, given := u.User.Password(); given || u.Query().Has("password") {
			return "", refuse("secret_in_arguments", "an address with a password must not be an argument: everybody on this machine can read it there; nothing was done. "+
				"Put it into %s or a file for --database-file, and change the password if others could see it", databaseVariable)
		}
		return argument, nil
	case file != "":
		text, err := secretfile.Read(file)
		if err != nil {
			return "", refuse("invalid_input", "the file with the database's address cannot be used: %s; nothing was done", reason(err))
		}
		_, err = addressed(text)
		return text, err
	}
	text := sys.Getenv(databaseVariable)
	if text == "" {
		return "", nil
	}
	_, err := addressed(text)
	return text, err
}

func addressed(text string) (*url.URL, error) {
	u, err := postgres.Address(text)
	if err != nil {
		return nil, refuse("invalid_input", "%s; nothing was done", err)
	}
	return u, nil
}

// find opens the directory of an installation that exists. One in PostgreSQL
// needs a directory only for its master key.
func (p place) find() (dataDir, error) {
	if p.postgres != "" {
		return openDir(p.dir)
	}
	return findDir(p.dir)
}

// explain makes an error that names what is out of reach.
func (p place) explain(err error) error {
	d := dataDir(p.dir)
	if p.postgres == "" {
		return d.explain(err)
	}
	return d.explain(unreachable(p.postgres, err))
}

// with opens the installation for one command.
func (p place) with(ctx context.Context, d dataDir, do func(*open) error) (err error) {
	o, err := openData(ctx, d, p)
	if err != nil {
		return err
	}
	defer func() { err = p.explain(errors.Join(err, o.close())) }()
	return do(o)
}
