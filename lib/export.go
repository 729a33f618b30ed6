package evalrouter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/evalrouter/evalrouter/lib/api"
)

// ExportInfo describes exported bytes.
type ExportInfo struct {
	Bytes         int64
	SHA256        string // of the bytes, lower-case hex
	ContentType   string
	ResultVersion int
	// FileName is what the service suggests, without any folder; often empty.
	FileName string
}

// Export writes a finished run to w. The bytes are checked against the
// service's checksum when it sends one; a mismatch is invalid_response, after
// the bytes were written. Once bytes were written nothing is repeated. An
// error of w has the code export_write_failed.
func (s *Runs) Export(ctx context.Context, id string, in ExportQuery, w io.Writer) (ExportInfo, error) {
	return s.c.download(ctx, s.exportCall(id, in), &sink{w: w})
}

// ExportFile writes a finished run to a new file that only its owner can
// read. An existing file is destination_exists, unless overwrite is set. Only
// a regular file is ever replaced: a device, a folder, a pipe or a symbolic
// link at that name is invalid_input. The file appears complete or not at all:
// the bytes go to a temporary file in the same folder first, and reach the
// disk before the name does.
func (s *Runs) ExportFile(ctx context.Context, id string, in ExportQuery, file string, overwrite bool) (ExportInfo, error) {
	return s.c.toFile(ctx, "export run "+id, s.exportCall(id, in), file, overwrite)
}

// toFile downloads into a file, which appears whole or not at all.
func (c *core) toFile(ctx context.Context, op string, from call, file string, overwrite bool) (ExportInfo, error) {
	if err := checkTarget(op, file, overwrite); err != nil {
		return ExportInfo{}, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".evalrouter-*.part") // made with mode 0600
	if err != nil {
		return ExportInfo{}, writeFailed(op, err)
	}
	defer func() {
		tmp.Close()
		os.Remove(tmp.Name())
	}()
	info, err := c.download(ctx, from, &sink{w: tmp, rewind: func() error { return rewind(tmp) }})
	if err != nil {
		return ExportInfo{}, err
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return ExportInfo{}, writeFailed(op, err)
	}
	if err := checkTarget(op, file, overwrite); err != nil { // it may have come meanwhile
		return ExportInfo{}, err
	}
	if err := publish(tmp.Name(), file, overwrite); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return ExportInfo{}, destinationExists(op, file)
		}
		return ExportInfo{}, writeFailed(op, err)
	}
	return info, nil
}

// checkTarget says whether a file may get this name. A rename would replace
// whatever stands there, so anything but a regular file is refused: a device
// would be lost, and a link would end where its owner does not expect it.
func checkTarget(op, file string, overwrite bool) error {
	info, err := os.Lstat(file)
	switch {
	case err != nil: // absent, or an error that creating the file tells better
		return nil
	case !info.Mode().IsRegular():
		return &Error{Problem: Problem{Code: api.InvalidInput, Message: fmt.Sprintf("%s is %s, and only a regular file is replaced; nothing was written", filepath.Base(file), kindOf(info.Mode()))}, Op: op}
	case !overwrite:
		return destinationExists(op, file)
	}
	return nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a special file"
}

// publish gives a finished file its name. A hard link fails when the name is
// taken, which a rename would not.
func publish(tmp, file string, overwrite bool) error {
	if overwrite {
		return os.Rename(tmp, file)
	}
	return os.Link(tmp, file)
}

func rewind(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return f.Truncate(0)
}

func destinationExists(op, file string) *Error {
	return &Error{Problem: Problem{Code: api.DestinationExists, Message: fmt.Sprintf("%s exists already; nothing was written", filepath.Base(file))}, Op: op}
}

func writeFailed(op string, err error) *Error {
	return &Error{Problem: Problem{Code: api.ExportWriteFailed, Message: "the export could not be written: " + reason(err)}, Op: op, err: err}
}

// reason is an error without the path that the caller knows.
func reason(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err.Error()
	case errors.As(err, &l):
		return l.Err.Error()
	}
	return err.Error()
}

// sink takes exported bytes, possibly of several attempts. Its own failures
// are told apart from those of the network.
type sink struct {
	w      io.Writer
	rewind func() error // nil when written bytes cannot be taken back
	n      int64
	sum    hash.Hash
	err    error
}

// Write passes bytes on and remembers the first failure.
func (k *sink) Write(b []byte) (int, error) {
	n, err := k.w.Write(b)
	k.n += int64(n)
	if err != nil {
		k.err = err
		return n, err
	}
	k.sum.Write(b)
	return n, nil
}

// start prepares for one attempt.
func (k *sink) start() error {
	if k.n > 0 && k.rewind != nil {
		if err := k.rewind(); err != nil {
			return err
		}
	}
	k.n, k.sum = 0, sha256.New()
	return nil
}

func (c *core) download(ctx context.Context, in call, k *sink) (ExportInfo, error) {
	var info ExportInfo
	err := c.send(ctx, in, func(res *http.Response) (bool, error) {
		if err := k.start(); err != nil {
			return false, writeFailed(in.op, err)
		}
		n, err := io.Copy(k, io.LimitReader(res.Body, c.cfg.MaxExportBytes))
		if k.err != nil {
			return false, writeFailed(in.op, k.err)
		}
		again := k.rewind != nil || k.n == 0
		if err != nil {
			return again, err
		}
		if n == c.cfg.MaxExportBytes {
			if m, _ := io.ReadFull(res.Body, make([]byte, 1)); m > 0 {
				return false, errTooLarge
			}
		}
		info = exportInfo(res.Header, n, hex.EncodeToString(k.sum.Sum(nil)))
		if want := res.Header.Get("X-Content-SHA256"); want != "" && want != info.SHA256 {
			return false, &Error{Problem: Problem{Code: api.InvalidResponse, Message: "the exported bytes do not match the checksum of the service"}}
		}
		return false, nil
	})
	if err != nil {
		return ExportInfo{}, err
	}
	return info, nil
}

func exportInfo(h http.Header, n int64, sum string) ExportInfo {
	info := ExportInfo{Bytes: n, SHA256: sum, ContentType: h.Get("Content-Type")}
	info.ResultVersion, _ = strconv.Atoi(h.Get("X-Result-Version")) // absent or odd: 0
	if _, p, err := mime.ParseMediaType(h.Get("Content-Disposition")); err == nil {
		if name := filepath.Base(p["filename"]); name != "." && name != string(filepath.Separator) && graphic(name, 200) {
			info.FileName = name
		}
	}
	return info
}
