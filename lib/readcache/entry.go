package readcache

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const schema = "evalrouter.catalog_copy.v1"

// suffix ends the name of every copy.
const suffix = ".copy"

// sweepAfter is when a copy is removed that nobody could use for a long time.
const sweepAfter = 24 * time.Hour

// entry is one copy: a line with the checksum of the rest, a line of JSON, and
// the body.
type entry struct {
	Schema string      `json:"schema"`
	Header http.Header `json:"header"`
	// Stored is when the answer came, Corrected how old it was then.
	Stored    time.Time     `json:"stored"`
	Corrected time.Duration `json:"corrected_ns"`
	Lifetime  time.Duration `json:"lifetime_ns"`
	body      []byte
}

// entry makes a copy of an answer, nil when its headers allow none or it is old
// already.
func (c *Cache) entry(h http.Header, body []byte, began time.Time) *entry {
	life, ok := maxAge(h)
	age, sane := ageOf(h)
	if !ok || !sane || !storable(h) {
		return nil
	}
	now := c.Now()
	e := &entry{
		Schema: schema, Header: http.Header{}, Stored: now, Lifetime: min(life, MaxAge), body: body,
		Corrected: max(age, apparent(h, now)) + max(0, now.Sub(began)),
	}
	for _, name := range []string{"Content-Type", "Cache-Control", "Etag", "Date", "Age", "Vary"} {
		if v := h.Values(name); len(v) > 0 {
			e.Header[name] = v
		}
	}
	if !e.fresh(now) {
		return nil
	}
	return e
}

// age is how old the answer is now.
func (e *entry) age(now time.Time) time.Duration { return e.Corrected + now.Sub(e.Stored) }

// fresh says that the copy may be used. A clock that went back, or a jump of
// more than the longest life, makes it useless.
func (e *entry) fresh(now time.Time) bool {
	resident := now.Sub(e.Stored)
	return resident >= 0 && resident <= MaxAge && e.Corrected >= 0 && e.Lifetime > 0 && e.Lifetime <= MaxAge && e.age(now) < e.Lifetime
}

// key names the copy of a request.
func (c *Cache) key(req *http.Request) string {
	origin := c.Origin
	if origin == "" {
		origin = req.URL.Scheme + "://" + strings.ToLower(req.URL.Host)
	}
	sum := sha256.New()
	for _, part := range []string{schema, c.Client, origin, req.URL.EscapedPath(), sorted(req.URL.RawQuery)} {
		sum.Write([]byte(part + "\n"))
	}
	for _, name := range keyed() {
		sum.Write([]byte(name + ":" + strings.Join(req.Header.Values(name), ",") + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func sorted(query string) string {
	v, err := url.ParseQuery(query)
	if err != nil {
		return query
	}
	return v.Encode()
}

func (c *Cache) path(key string) string { return filepath.Join(c.Dir, key+suffix) }

// drop is best effort: what cannot be removed is not fresh for long.
func (c *Cache) drop(key string) { _ = os.Remove(c.path(key)) }

// store writes the copy whole or not at all. A cache that cannot be written is
// no error for anybody.
func (c *Cache) store(key string, e *entry) {
	head, err := json.Marshal(e)
	if err != nil || os.MkdirAll(c.Dir, 0o700) != nil {
		return
	}
	rest := append(append(head, '\n'), e.body...)
	sum := sha256.Sum256(rest)
	temp := filepath.Join(c.Dir, ".new-"+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(append([]byte(hex.EncodeToString(sum[:])+"\n"), rest...))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp, c.path(key))
	}
	if err != nil {
		_ = os.Remove(temp)
		return
	}
	c.sweep()
}

// sweep removes what is left of reads that nobody repeats.
func (c *Cache) sweep() {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	for _, d := range entries {
		if ours := strings.HasSuffix(d.Name(), suffix) || strings.HasPrefix(d.Name(), ".new-"); !ours {
			continue
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && c.Now().Sub(info.ModTime()) > sweepAfter {
			_ = os.Remove(filepath.Join(c.Dir, d.Name()))
		}
	}
}

// load reads a copy, nil when there is none that can be trusted.
func (c *Cache) load(key string) *entry {
	e, damaged := read(c.path(key))
	if damaged {
		c.drop(key)
	}
	return e
}

func read(path string) (e *entry, damaged bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, false
	}
	if !info.Mode().IsRegular() || info.Size() > maxBody+(64<<10) {
		return nil, info.Mode().Type() != fs.ModeDir
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	sum, rest, ok := bytes.Cut(data, []byte("\n"))
	want := sha256.Sum256(rest)
	if !ok || string(sum) != hex.EncodeToString(want[:]) {
		return nil, true
	}
	head, body, ok := bytes.Cut(rest, []byte("\n"))
	if !ok || json.Unmarshal(head, &e) != nil || e == nil || e.Schema != schema || !storable(e.Header) {
		return nil, true
	}
	e.body = body
	return e, false
}

// Fresh gives the bodies of the copies that could answer now, in any order.
// It is for suggestions, which must not ask anybody.
func (c *Cache) Fresh() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		entries, err := os.ReadDir(c.Dir)
		if err != nil {
			return
		}
		for _, d := range entries {
			if !strings.HasSuffix(d.Name(), suffix) {
				continue
			}
			if e, _ := read(filepath.Join(c.Dir, d.Name())); e != nil && e.fresh(c.Now()) && !yield(e.body) {
				return
			}
		}
	}
}
