package evidence

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// Names in an evidence bundle.
const (
	RunFile     = "run.json"         // api.Export without samples
	GraderFile  = "grader.json"      // the grader's configuration, byte for byte as its hash is of it
	PricesFile  = "prices.json"      // Prices
	SamplesFile = "samples.jsonl.gz" // one Task a line, in the run's order
	SumsFile    = "SHA256SUMS"       // of every other file, as sha256sum -c reads it
)

// File is one file of a bundle.
type File struct {
	Name  string // without a folder
	Write func(io.Writer) error
}

// Archive writes the container of an evidence bundle: a zip file whose every
// byte follows from the names and contents that are added. A verifier writes
// what it has read once more and compares.
type Archive struct {
	z    *zip.Writer
	sums []byte
}

// NewArchive begins a container.
func NewArchive(w io.Writer) *Archive { return &Archive{z: zip.NewWriter(w)} }

// firstDay is 1980-01-01, the first day that a zip file can name.
const firstDay = 1<<5 | 1

// Add writes one file.
func (a *Archive) Add(f File) error {
	sum, err := a.add(f)
	if err != nil {
		return fmt.Errorf("write %s of the bundle: %w", f.Name, err)
	}
	a.sums = fmt.Appendf(a.sums, "%s  %s\n", hex.EncodeToString(sum.Sum(nil)), f.Name)
	return nil
}

func (a *Archive) add(f File) (hash.Hash, error) {
	// The day alone: with Modified the writer would add a field for its zone.
	w, err := a.z.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store, ModifiedDate: firstDay})
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	return sum, f.Write(io.MultiWriter(w, sum))
}

// Close writes the sums of what was added and ends the container.
func (a *Archive) Close() error {
	sums := a.sums
	if _, err := a.add(File{SumsFile, func(w io.Writer) error { _, err := w.Write(sums); return err }}); err != nil {
		return fmt.Errorf("write %s of the bundle: %w", SumsFile, err)
	}
	return a.z.Close()
}
