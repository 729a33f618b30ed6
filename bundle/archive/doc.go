// Package archive reads zip files that a stranger may have made, and writes
// zip files whose bytes depend on their contents alone.
//
// Decisions for reading:
//
//   - A zip file has two indexes, one before each entry and one at the end,
//     and programs differ in which they believe. Here both must say the same,
//     and the entries must fill the file from its first byte to its last:
//     nothing in front, between, behind or twice.
//   - What a benchmark never needs is refused: links, devices, encryption,
//     zip64, other methods than store and deflate, names that are not plain
//     relative paths on every system, names that are one file on some.
//   - The whole index is checked before the first file is opened, with memory
//     for the index only. Contents are read as a stream and end with an error
//     as soon as they are longer than the index says.
//   - Nothing is ever unpacked to a disk; Archive is an fs.FS. An archive
//     inside an archive is a file like any other.
//
// Files are written without compression. A compressor may write other bytes
// in its next release, and then the same package would have another digest.
package archive

// Limits.
const (
	MaxBytes    = 100 << 20 // of a zip file
	MaxUnpacked = 512 << 20 // of all contents together
	MaxEntries  = 10_000
	maxIndex    = 8 << 20 // of the index at the end
	maxRatio    = 100     // of one entry that unpacks to more than freeRatio
	freeRatio   = 1 << 20
	maxName     = 240
	maxDepth    = 16
	maxComment  = 1 << 10
	maxExtra    = 1 << 10
)

// Rule is one reason to refuse a zip file.
type Rule struct{ ID, Remedy string }

// Rules lists the ids that an *Error can have.
func Rules() []Rule {
	const again = "make the file with evalrouter-bench bundle"
	return []Rule{
		{"zip_too_large", "split the benchmark: a bundle may have 100 MiB"},
		{"zip_not", again},
		{"zip_end", again + "; nothing may stand before or behind the archive, and it ends once"},
		{"zip_comment", again},
		{"zip64", again + "; it needs no zip64"},
		{"zip_entries", "keep only the files of the benchmark"},
		{"zip_index", again},
		{"zip_name", "use relative names of ordinary characters"},
		{"zip_name_repeated", "keep one of the two entries"},
		{"zip_name_collision", "choose names that differ by more than letter case"},
		{"zip_mode", "put plain files into the archive, no links or devices"},
		{"zip_encrypted", "make the archive without a password"},
		{"zip_method", "use no compression, or deflate"},
		{"zip_layout", again},
		{"zip_local", again},
		{"zip_ratio", again},
		{"zip_unpacked", "split the benchmark: its files may have 512 MiB together"},
		{"zip_content", "make the archive again; its contents do not match its index"},
	}
}

// Error is a refusal. Name is the entry, "" for the archive itself; it is text
// from a stranger.
type Error struct {
	Rule    string
	Name    string
	Message string
}

func (e *Error) Error() string { return e.Message + " (" + e.Rule + ")" }
