// Package rekey gives an installation another master key.
//
// Four steps, each of which may be the last of its process, and each of which
// finds itself done when it is repeated:
//
//  1. The file gets a new key and keeps the old one beside it.
//  2. A database that several processes share says which key it needs from now
//     on, so that none starts with the old file.
//  3. Every key of a connection is sealed anew, some in a transaction.
//  4. The old key leaves the file.
//
// At every moment the file opens whatever is in the database, so that a service
// may start after any death. No service runs meanwhile: it would go on sealing
// with the key that it has read.
package rekey

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sealed"
)

// File is the file of the master key.
type File interface {
	// Rotate puts a new key into the file, unless there are two already.
	Rotate() (*seal.Master, error)
	// Retire takes the old key out.
	Retire() error
}

// Seals is what is sealed.
type Seals interface {
	Sealed(ctx context.Context, after core.ConnectionID, limit int) ([]core.ConnectionInfo, error)
	Replace(context.Context, []sealed.Replacement) error
}

// Rotation is one change of the master key. All fields are required but Needs.
type Rotation struct {
	File  File
	Seals Seals
	// Needs tells a shared database the Check of the key that it needs; nil for
	// a database that one process has.
	Needs func(ctx context.Context, check string) error
	// Batch is how many keys one transaction seals anew.
	Batch int
}

// Report is what became of the keys.
type Report struct {
	// Resealed counts those that this process sealed anew, Already those that
	// needed nothing.
	Resealed, Already int
	// Void are connections whose key neither master key opens. They were void
	// before; their owners must give the key again.
	Void []core.ConnectionID
}

// Run changes the master key, or goes on where an earlier one ended.
func (r Rotation) Run(ctx context.Context) (Report, error) {
	var rep Report
	master, err := r.File.Rotate()
	if err != nil {
		return rep, err
	}
	if r.Needs != nil {
		if err := r.Needs(ctx, master.Check()); err != nil {
			return rep, fmt.Errorf("tell the database which key it needs: %w", err)
		}
	}
	for after := core.ConnectionID(""); ; {
		page, err := r.Seals.Sealed(ctx, after, r.Batch)
		if err != nil {
			return rep, fmt.Errorf("read sealed keys: %w", err)
		}
		if len(page) == 0 {
			return rep, r.File.Retire()
		}
		after = page[len(page)-1].ID
		if err := r.page(ctx, master, page, &rep); err != nil {
			return rep, err
		}
	}
}

// page seals the keys of one transaction anew.
func (r Rotation) page(ctx context.Context, master *seal.Master, page []core.ConnectionInfo, rep *Report) error {
	var all []sealed.Replacement
	for _, c := range page {
		now, err := master.Reseal(connection.Binding(c), c.SealedKey)
		switch {
		case errors.Is(err, seal.ErrUnopenable):
			rep.Void = append(rep.Void, c.ID)
		case err != nil:
			return fmt.Errorf("seal the key of connection %s anew: %w", c.ID, err)
		case now == nil:
			rep.Already++
		default:
			all = append(all, sealed.Replacement{ID: c.ID, Was: c.SealedKey, Now: now})
		}
	}
	if err := r.Seals.Replace(ctx, all); err != nil {
		return fmt.Errorf("keep sealed keys: %w", err)
	}
	rep.Resealed += len(all)
	return nil
}
