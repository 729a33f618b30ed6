package distribution

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// file is one file of an archive.
type file struct {
	mode os.FileMode
	text []byte
}

// inside is the folder that every archive unpacks into.
const inside = "evalrouter/"

// pack writes files in the order of their names, as a zip for Windows and a
// compressed tar elsewhere.
func pack(w io.Writer, p Platform, files map[string]file, at time.Time) error {
	if p.System == "windows" {
		return packZip(w, files, at)
	}
	return packTar(w, files, at)
}

// Archive is the name of its archive.
func (p Platform) Archive() string {
	if p.System == "windows" {
		return "evalrouter_" + p.String() + ".zip"
	}
	return "evalrouter_" + p.String() + ".tar.gz"
}

func packTar(w io.Writer, files map[string]file, at time.Time) error {
	gz, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("begin the archive: %w", err)
	}
	tw := tar.NewWriter(gz)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		h := &tar.Header{Name: inside + name, Mode: int64(f.mode), Size: int64(len(f.text)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("begin %s: %w", name, err)
		}
		if _, err := tw.Write(f.text); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if err := tw.Close(); err != nil {
		return fmt.Errorf("end the archive: %w", err)
	}
	if err := gz.Close(); err != nil {
		return fmt.Errorf("end the archive: %w", err)
	}
	return nil
}

func packZip(w io.Writer, files map[string]file, at time.Time) error {
	zw := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		h := &zip.FileHeader{Name: inside + name, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(f.mode)
		fw, err := zw.CreateHeader(h)
		if err != nil {
			return fmt.Errorf("begin %s: %w", name, err)
		}
		if _, err := fw.Write(f.text); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("end the archive: %w", err)
	}
	return nil
}
