package archivetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Hostile is one zip file that must be refused.
type Hostile struct {
	Name string
	Rule string
	// Late says that the index looks good and only the contents show it.
	Late bool
	// Large files are no seeds for a fuzzer.
	Large bool
	Build func() []byte
}

// All is the corpus.
func All() []Hostile {
	return slices.Concat(names(), kinds(), sizes(), layouts(), ends(), contents())
}

func plain(name string) Entry { return Entry{Name: name, Data: []byte("hello\n")} }

func file(entries ...Entry) func() []byte { return func() []byte { return Build(entries, End{}) } }

func ptr[T any](v T) *T { return &v }

func names() []Hostile {
	var all []Hostile
	for what, name := range map[string]string{
		"up": "../evil", "up inside": "a/../../evil", "up at the end": "a/..", "absolute": "/etc/passwd", "a drive": "C:evil", "a drive with a path": "C:/evil",
		"backslashes": `..\evil`, "a share": `\\server\evil`, "a slash twice": "a//b", "a dot": "./a", "an inner dot": "a/./b", "nothing": "",
		"only a slash": "/", "NUL": "a\x00b", "a line break": "a\nb", "an escape": "a\x1b[31m", "a dot at the end": "a.", "a space at the end": "a ", "a space in front": " a",
		"a stream": "a:b", "a star": "a*", "a question": "a?", "a pipe": "a|b", "device": "NUL", "device with a suffix": "con.txt", "device in a folder": "a/COM1/b", "LPT": "lpt9.md",
		"17 folders": strings.Repeat("a/", 16) + "b", "241 bytes": strings.Repeat("a", 241), "a delete character": "a\x7f",
	} {
		all = append(all, Hostile{Name: "name: " + what, Rule: "zip_name", Build: file(plain(name))})
	}
	const utf8Flag = 1 << 11
	for what, name := range map[string]string{
		"bidi": "a\u202eb", "zero width": "a\u200bb", "soft hyphen": "a\u00adb", "decomposed": "cafe\u0301", "superscript device": "com¹", "C1": "a\u009bb",
		"a private character": "a\ue000b", "not UTF-8": "a\xffb", "overlong UTF-8": "a\xc0\xafb",
	} {
		e := plain(name)
		e.Flags = utf8Flag
		all = append(all, Hostile{Name: "name: " + what, Rule: "zip_name", Build: file(e)})
	}
	second := plain("a")
	second.Extra = []byte{0x75, 0x70, 6, 0, 1, 0, 0, 0, 0, 'b'}
	umlaut := func(s string) Entry { e := plain(s); e.Flags = utf8Flag; return e }
	all = append(all,
		Hostile{Name: "name: no encoding", Rule: "zip_name", Build: file(plain("é"))},
		Hostile{Name: "name: a second one", Rule: "zip_name", Build: file(second)},
		Hostile{Name: "twice", Rule: "zip_name_repeated", Build: file(plain("a"), plain("b"), plain("a"))},
		Hostile{Name: "twice, a file and a folder", Rule: "zip_name_repeated", Build: file(plain("a"), Entry{Name: "a/", Mode: 0o040755})},
		Hostile{Name: "two cases", Rule: "zip_name_collision", Build: file(plain("readme"), plain("README"))},
		Hostile{Name: "two cases elsewhere", Rule: "zip_name_collision", Build: file(umlaut("é"), umlaut("É"))},
		Hostile{Name: "the Kelvin sign", Rule: "zip_name", Build: file(umlaut("k"), umlaut("\u212a"))},
		Hostile{Name: "long s", Rule: "zip_name_collision", Build: file(umlaut("s"), umlaut("ſ"))},
		Hostile{Name: "composed and not", Rule: "zip_name", Build: file(umlaut("é"), umlaut("e\u0301"))},
		Hostile{Name: "a file inside a file", Rule: "zip_name_collision", Build: file(plain("a"), plain("a/b"))},
		Hostile{Name: "a file inside a file in another case", Rule: "zip_name_collision", Build: file(plain("a"), plain("A/b"))},
	)
	slices.SortFunc(all, func(a, b Hostile) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func kinds() []Hostile {
	var all []Hostile
	for what, mode := range map[string]uint32{
		"symlink": 0o120777, "device": 0o060644, "terminal": 0o020644, "pipe": 0o010644, "socket": 0o140644, "setuid": 0o104755, "setgid": 0o102755, "sticky": 0o101644, "a folder by mode": 0o040755,
	} {
		e := plain("a")
		e.Mode = mode
		all = append(all, Hostile{Name: "kind: " + what, Rule: "zip_mode", Build: file(e)})
	}
	link := Entry{Name: "a", Data: []byte("../../etc/passwd"), Mode: 0o120777}
	for what, bit := range map[string]uint16{"the old way": 1, "the strong way": 1 | 1<<6, "with a hidden index": 1 << 13} {
		e := plain("a")
		e.Flags = bit
		all = append(all, Hostile{Name: "encrypted " + what, Rule: "zip_encrypted", Build: file(e)})
	}
	aes := plain("a")
	aes.Extra = []byte{0x01, 0x99, 7, 0, 2, 0, 'A', 'E', 3, 8, 0}
	method := func(m byte) Entry {
		e := plain("a")
		e.Local = func(h []byte) { h[AtMethod] = m }
		e.Central = func(h []byte) { h[AtMethod+CentralShift] = m }
		return e
	}
	for what, m := range map[string]byte{"shrunk": 1, "deflate64": 9, "bzip2": 12, "LZMA": 14, "zstd": 93, "AES": 99} {
		all = append(all, Hostile{Name: "method " + what, Rule: "zip_method", Build: file(method(m))})
	}
	odd := plain("a")
	odd.Flags = 1 << 4
	open := plain("a")
	open.Flags = 1 << 3
	full := Entry{Name: "a/", Data: []byte("x"), Mode: 0o040755}
	all = append(all,
		Hostile{Name: "kind: a link that leads out", Rule: "zip_mode", Build: file(link)},
		Hostile{Name: "kind: a folder with contents", Rule: "zip_mode", Build: file(full)},
		Hostile{Name: "kind: a folder that is a file by mode", Rule: "zip_mode", Build: file(Entry{Name: "a/", Mode: 0o100644})},
		Hostile{Name: "encrypted by AES", Rule: "zip_encrypted", Build: file(aes)},
		Hostile{Name: "unknown flags", Rule: "zip_method", Build: file(odd)},
		Hostile{Name: "stored without a length", Rule: "zip_method", Build: file(open)},
	)
	slices.SortFunc(all, func(a, b Hostile) int { return strings.Compare(a.Name, b.Name) })
	return all
}

const mib = 1 << 20

func sizes() []Hostile {
	zeros := func(n int) []byte { return make([]byte, n) }
	big := func(i int) Entry { // 90 MiB from 1 MiB, below the ratio of one
		return Entry{Name: fmt.Sprintf("f%d", i), Deflate: true, Packed: zeros(mib), Size: ptr(uint32(90 * mib))}
	}
	claim := func(at int, v uint32) Entry {
		e := plain("a")
		e.Central = func(h []byte) { le.PutUint32(h[at+CentralShift:], v) }
		return e
	}
	zip64 := plain("a")
	zip64.Extra = append([]byte{1, 0, 16, 0}, make([]byte, 16)...)
	return []Hostile{
		{Name: "bomb: one entry", Rule: "zip_ratio", Large: true, Build: func() []byte {
			return Build([]Entry{{Name: "a", Deflate: true, Data: zeros(4 * mib)}}, End{})
		}},
		{Name: "bomb: many entries", Rule: "zip_unpacked", Large: true, Build: func() []byte {
			return Build([]Entry{big(0), big(1), big(2), big(3), big(4), big(5)}, End{})
		}},
		{Name: "bomb: longer than it says", Rule: "zip_content", Late: true, Large: true, Build: func() []byte {
			return Build([]Entry{{Name: "evalrouter.json", Deflate: true, Packed: Deflate(zeros(8 * mib)), Size: ptr(uint32(10)), CRC: ptr(uint32(0))}}, End{})
		}},
		{Name: "bomb: one packed text for many entries", Rule: "zip_layout", Large: true, Build: func() []byte {
			entries := []Entry{{Name: "a0", Deflate: true, Data: zeros(mib)}}
			packed := Deflate(zeros(mib))
			for i := range 100 {
				e := entries[0]
				e.Name, e.Data, e.Packed, e.At = fmt.Sprintf("b%d", i), nil, packed, ptr(uint32(0))
				entries = append(entries, e)
			}
			return Build(entries, End{})
		}},
		{Name: "claims 4 GiB packed", Rule: "zip64", Build: file(claim(AtPacked, 0xffffffff))},
		{Name: "claims 4 GiB unpacked", Rule: "zip64", Build: file(claim(AtSize, 0xffffffff))},
		{Name: "claims almost 4 GiB, stored", Rule: "zip_unpacked", Build: func() []byte {
			e := plain("a")
			e.Central = func(h []byte) {
				le.PutUint32(h[AtSize+CentralShift:], 0xfffffffe)
				le.PutUint32(h[AtPacked+CentralShift:], 0xfffffffe)
			}
			return Build([]Entry{e}, End{})
		}},
		{Name: "claims almost 4 GiB from nothing", Rule: "zip_ratio", Build: func() []byte {
			return Build([]Entry{{Name: "a", Deflate: true, Data: []byte("x"), Size: ptr(uint32(0xfffffffe))}}, End{})
		}},
		{Name: "zip64 in the notes", Rule: "zip64", Build: file(zip64)},
		{Name: "zip64 before the end", Rule: "zip64", Build: func() []byte {
			return Build([]Entry{plain("a")}, End{Before: append([]byte("PK\x06\x07"), make([]byte, 16)...)})
		}},
		{Name: "claims an index at 4 GiB", Rule: "zip64", Build: func() []byte {
			return Build([]Entry{plain("a")}, End{Change: func(r []byte) { le.PutUint32(r[16:], 0xffffffff) }})
		}},
		{Name: "claims 65,535 entries", Rule: "zip64", Build: func() []byte { return Build([]Entry{plain("a")}, End{Entries: ptr(uint16(0xffff))}) }},
		{Name: "10,001 entries", Rule: "zip_entries", Large: true, Build: func() []byte {
			var all []Entry
			for i := range 10_001 {
				all = append(all, Entry{Name: fmt.Sprintf("f%05d", i)})
			}
			return Build(all, End{})
		}},
		{Name: "an index of 9 MiB", Rule: "zip_index", Large: true, Build: func() []byte {
			var all []Entry
			for i := range 4_500 {
				all = append(all, Entry{Name: fmt.Sprintf("f%05d", i), Extra: append([]byte{0xfe, 0xca, 0xfc, 0x03}, make([]byte, 1020)...), Comment: strings.Repeat("c", 1024)})
			}
			return Build(all, End{})
		}},
	}
}

func layouts() []Hostile {
	local := func(at int, v byte) Entry {
		e := plain("b")
		e.Local = func(h []byte) { h[at] ^= v }
		return e
	}
	gap := plain("a")
	gap.Gap = []byte("hidden")
	inside := plain("b")
	inside.At = ptr(uint32(0))
	far := plain("b")
	far.At = ptr(uint32(1 << 30))
	short := plain("b")
	short.Central = func(h []byte) { le.PutUint32(h[AtPacked+CentralShift:], 3); le.PutUint32(h[AtSize+CentralShift:], 3) }
	long := plain("b")
	long.Central = func(h []byte) {
		le.PutUint32(h[AtPacked+CentralShift:], 3000)
		le.PutUint32(h[AtSize+CentralShift:], 3000)
	}
	stream := func(change func(*Entry)) []Entry {
		e := Entry{Name: "b", Data: []byte(strings.Repeat("hello ", 40)), Deflate: true, Descriptor: true}
		change(&e)
		return []Entry{plain("a"), e}
	}
	return []Hostile{
		{Name: "overlap", Rule: "zip_layout", Build: file(plain("a"), inside)},
		{Name: "an entry outside the file", Rule: "zip_layout", Build: file(plain("a"), far)},
		{Name: "contents that reach into the index", Rule: "zip_layout", Build: file(plain("a"), long)},
		{Name: "bytes between entries", Rule: "zip_layout", Build: file(gap, plain("b"))},
		{Name: "bytes before the index", Rule: "zip_layout", Build: file(plain("b"), gap)},
		{Name: "an entry that the index leaves out", Rule: "zip_layout", Build: func() []byte {
			whole := Build([]Entry{plain("a"), plain("b")}, End{})
			one := bytes.Index(whole, []byte("PK\x01\x02"))
			two := bytes.LastIndex(whole, []byte("PK\x01\x02"))
			end := bytes.Index(whole, []byte("PK\x05\x06"))
			out := slices.Concat(whole[:two], whole[end:])
			rec := out[two:]
			le.PutUint16(rec[8:], 1)
			le.PutUint16(rec[10:], 1)
			le.PutUint32(rec[12:], uint32(two-one))
			return out
		}},
		{Name: "bytes in front that the offsets allow for", Rule: "zip_layout", Build: func() []byte {
			e := plain("a")
			e.At = ptr(uint32(8))
			return append([]byte("MZ stub "), Build([]Entry{e}, End{Change: func(r []byte) { le.PutUint32(r[16:], le.Uint32(r[16:])+8) }})...)
		}},
		{Name: "bytes in front", Rule: "zip_end", Build: func() []byte { return append([]byte("MZ stub "), Build([]Entry{plain("a")}, End{})...) }},
		{Name: "headers differ: name", Rule: "zip_local", Build: file(plain("a"), local(AtName, 1))},
		{Name: "headers differ: length of the name", Rule: "zip_local", Build: file(plain("a"), local(AtNameLen, 2))},
		{Name: "headers differ: method", Rule: "zip_local", Build: file(plain("a"), local(AtMethod, 8))},
		{Name: "headers differ: flags", Rule: "zip_local", Build: file(plain("a"), local(AtFlags, 2))},
		{Name: "headers differ: checksum", Rule: "zip_local", Build: file(plain("a"), local(AtCRC, 1))},
		{Name: "headers differ: length", Rule: "zip_local", Build: file(plain("a"), local(AtSize, 1))},
		{Name: "headers differ: packed length", Rule: "zip_local", Build: file(plain("a"), short)},
		{Name: "no entry where the index says", Rule: "zip_local", Build: file(plain("a"), local(0, 1))},
		{Name: "lengths behind an entry that differ", Rule: "zip_local", Build: func() []byte {
			b := Build(stream(func(*Entry) {}), End{})
			i := bytes.LastIndex(b, []byte("PK\x07\x08"))
			b[i+4] ^= 1
			return b
		}},
		{Name: "lengths behind an entry and in front, which differ", Rule: "zip_local", Build: func() []byte {
			return Build(stream(func(e *Entry) { e.Local = func(h []byte) { h[AtSize] = 7 } }), End{})
		}},
		{Name: "bytes behind the lengths", Rule: "zip_layout", Build: func() []byte {
			return Build(stream(func(e *Entry) { e.Gap = []byte("x") }), End{})
		}},
	}
}

func ends() []Hostile {
	one := []Entry{plain("a")}
	with := func(e End) func() []byte { return func() []byte { return Build(one, e) } }
	return []Hostile{
		{Name: "nothing", Rule: "zip_not", Build: func() []byte { return nil }},
		{Name: "text", Rule: "zip_not", Build: func() []byte { return []byte(strings.Repeat("hello ", 100)) }},
		{Name: "cut off", Rule: "zip_end", Build: func() []byte { b := Build(one, End{}); return b[:len(b)-5] }},
		{Name: "cut off before the end", Rule: "zip_end", Build: func() []byte { b := Build(one, End{}); return b[:len(b)-22] }},
		{Name: "bytes behind the end", Rule: "zip_end", Build: with(End{After: []byte("x")})},
		{Name: "another archive behind the end", Rule: "zip_end", Build: func() []byte {
			b := Build(one, End{})
			return append(b, b...)
		}},
		{Name: "two ends", Rule: "zip_end", Build: with(End{Comment: "PK\x05\x06" + strings.Repeat("\x00", 18)})},
		{Name: "a comment that hides an archive", Rule: "zip_end", Build: func() []byte {
			return Build(one, End{Comment: string(Build([]Entry{plain("evil")}, End{}))})
		}},
		{Name: "a long comment", Rule: "zip_not", Build: with(End{Comment: strings.Repeat("c", 2000)})},
		{Name: "a part of several", Rule: "zip_end", Build: with(End{Change: func(r []byte) { r[4] = 1 }})},
		{Name: "fewer entries than said", Rule: "zip_index", Build: with(End{Entries: ptr(uint16(2))})},
		{Name: "more entries than said", Rule: "zip_index", Build: func() []byte {
			return Build([]Entry{plain("a"), plain("b")}, End{Entries: ptr(uint16(1))})
		}},
		{Name: "an index elsewhere", Rule: "zip_end", Build: with(End{Change: func(r []byte) { r[16]++ }})},
		{Name: "an index that is none", Rule: "zip_index", Build: func() []byte {
			b := Build(one, End{})
			b[bytes.Index(b, []byte("PK\x01\x02"))] = 'Q'
			return b
		}},
		{Name: "an entry with long notes", Rule: "zip_comment", Build: file(Entry{Name: "a", Comment: strings.Repeat("c", 1025)})},
		{Name: "notes that are cut off", Rule: "zip_index", Build: file(Entry{Name: "a", Extra: []byte{0xfe, 0xca, 9, 0, 1}})},
	}
}

// contents look good until they are read.
func contents() []Hostile {
	const name = "evalrouter.json"
	text := []byte(strings.Repeat("hello ", 100))
	return []Hostile{
		{Name: "another checksum", Rule: "zip_content", Late: true, Build: file(Entry{Name: name, Data: text, CRC: ptr(uint32(1))})},
		{Name: "shorter than it says", Rule: "zip_content", Late: true, Build: file(Entry{Name: name, Data: text, Deflate: true, Size: ptr(uint32(601))})},
		{Name: "broken compression", Rule: "zip_content", Late: true, Build: file(Entry{Name: name, Data: text, Deflate: true, Packed: []byte{0xff, 0xff, 0xff}})},
		{Name: "compression that is cut off", Rule: "zip_content", Late: true, Build: file(Entry{Name: name, Data: text, Deflate: true, Packed: Deflate(text)[:8]})},
		{Name: "bytes behind the compressed ones", Rule: "zip_content", Late: true, Build: file(Entry{Name: name, Data: text, Deflate: true, Packed: append(Deflate(text), "hidden"...)})},
	}
}
