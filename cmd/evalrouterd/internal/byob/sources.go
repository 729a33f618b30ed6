package byob

import (
	"context"
	"errors"
	"io"
	"regexp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// NewSource announces a file.
type NewSource struct {
	FileName string
	Format   string
	Bytes    int64
	SHA256   string
}

var (
	fileShape = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_. -]{0,199}$`)
	hashShape = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Field is one thing that is wrong with a request.
type Field struct{ Path, Code string }

// Invalid is a request with fields that cannot be.
type Invalid struct {
	Code    core.Code
	Message string
	Fields  []Field
}

// Error is the sentence.
func (e *Invalid) Error() string { return e.Message }

// Begin announces a source whose bytes are to follow.
func (s *Service) Begin(ctx context.Context, sc core.Scope, n NewSource) (core.DataSource, error) {
	id := core.SourceID(s.NewID())
	return s.begin(ctx, sc, n, id, "workspace://"+string(id)+"/"+n.FileName)
}

func (s *Service) begin(ctx context.Context, sc core.Scope, n NewSource, id core.SourceID, uri string) (core.DataSource, error) {
	if err := n.check(); err != nil {
		return core.DataSource{}, err
	}
	return s.Sources.AddSource(ctx, core.DataSource{
		ID: id, Workspace: sc.Workspace, FileName: n.FileName, Format: n.Format, Bytes: n.Bytes, SHA256: n.SHA256, URI: uri, Actor: sc.Actor,
	})
}

func (n NewSource) check() error {
	var bad []Field
	if !fileShape.MatchString(n.FileName) {
		bad = append(bad, Field{"file_name", "out_of_range"})
	}
	most := int64(core.MaxSourceBytes)
	switch n.Format {
	case core.FormatJSONL, core.FormatCSV, core.FormatParquet:
	case core.FormatPackage:
		most = core.MaxPackageBytes
	default:
		bad = append(bad, Field{"format", "unknown_value"})
	}
	if n.Bytes < 1 {
		bad = append(bad, Field{"bytes", "out_of_range"})
	}
	if !hashShape.MatchString(n.SHA256) {
		bad = append(bad, Field{"sha256", "invalid_value"})
	}
	if len(bad) > 0 {
		return &Invalid{core.InvalidRequest, "the source cannot be announced so; nothing was added", bad}
	}
	if n.Bytes > most {
		return core.Refuse(core.SourceTooLarge, "the file has %d bytes, and a source of this format at most %d; nothing was added. Split it, or leave out columns that the benchmark does not use", n.Bytes, most).With("max_bytes", most)
	}
	return nil
}

// Part is which bytes of a source follow.
type Part struct {
	// Whole starts over and brings everything.
	Whole bool
	Start int64
	// End is behind the last byte; Total is the size of the source.
	End, Total int64
}

// Upload takes bytes of a source. When the last one has come the source is
// looked at, and is completed or failed. A source that was is answered as it
// is, so that an upload whose answer was lost can be repeated.
func (s *Service) Upload(ctx context.Context, sc core.Scope, id core.SourceID, p Part, body io.Reader) (core.DataSource, error) {
	src, err := s.Sources.Source(ctx, sc, id)
	if err != nil {
		return src, err
	}
	switch src.Status {
	case core.SourceCompleted, core.SourceFailed:
		return src, nil
	case core.SourceArchived:
		return src, core.Refuse(core.SourceNotReady, "the source was archived and takes no more bytes; announce a new one")
	}
	if p.Whole {
		p.Start, p.End, p.Total = 0, src.Bytes, src.Bytes
		if src.Received > 0 {
			if err := s.Bytes.StartOver(ctx, sc, id); err != nil {
				return src, offset(err)
			}
			src.Received = 0
		}
	}
	switch {
	case p.Total != src.Bytes:
		return src, &Invalid{core.InvalidRequest, "Content-Range names another size than the source was announced with; nothing was taken", []Field{{"header.Content-Range", "out_of_range"}}}
	case p.Start != src.Received && p.Start < p.End:
		return src, core.Refuse(core.SourceOffset, "%d bytes of the source are here, and the part begins at %d; nothing was taken. Go on at %d", src.Received, p.Start, src.Received).With("received_bytes", src.Received)
	}
	if err := s.take(ctx, sc, id, p, body); err != nil {
		return src, err
	}
	return s.complete(ctx, sc, id)
}

// offset words that somebody else's bytes came first.
func offset(err error) error {
	if errors.Is(err, core.ErrMoved) {
		return core.Refuse(core.SourceOffset, "another upload of this source is under way, and its bytes came first; look at the source and go on behind them")
	}
	return err
}

// take keeps what comes, also of a part that breaks off.
func (s *Service) take(ctx context.Context, sc core.Scope, id core.SourceID, p Part, body io.Reader) error {
	buf := make([]byte, core.SourceChunk)
	for at := p.Start; at < p.End; {
		n, err := io.ReadFull(body, buf[:min(int64(len(buf)), p.End-at)])
		if n > 0 {
			// What came is kept even if its sender has left.
			if kept := s.Bytes.Append(context.WithoutCancel(ctx), sc, id, at, buf[:n]); kept != nil {
				return offset(kept)
			}
			at += int64(n)
		}
		if err != nil {
			return &Invalid{core.InvalidRequest, "the part did not arrive whole; what came of it is kept, so look at the source and go on", []Field{{"", "incomplete"}}}
		}
	}
	if n, err := body.Read(buf[:1]); n > 0 || err == nil && n != 0 {
		return &Invalid{core.InvalidRequest, "there are more bytes than the part announced; those that it announced are kept", []Field{{"", "out_of_range"}}}
	}
	return nil
}

// complete looks at a source if all of it is there.
func (s *Service) complete(ctx context.Context, sc core.Scope, id core.SourceID) (core.DataSource, error) {
	src, err := s.Sources.Source(ctx, sc, id)
	if err != nil || src.Status != core.SourcePending || src.Received < src.Bytes {
		return src, err
	}
	found, err := s.look(ctx, src)
	if err == nil {
		err = s.Bytes.Finish(ctx, sc, id, found)
	}
	if err != nil && !errors.Is(err, core.ErrMoved) { // somebody else may have looked, too
		return src, err
	}
	return s.Sources.Source(ctx, sc, id)
}
