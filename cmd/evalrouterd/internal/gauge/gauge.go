// Package gauge keeps figures about the process and writes them as text for a
// collector (the Prometheus exposition format, version 0.0.4).
//
// It is a few hundred lines of our own because that is all that is needed: the
// usual library would be the heaviest dependency of the service and would bring
// a registry that is a global variable.
//
// Every family of series is bounded. Values of labels are words of ours, never
// text that a caller chose; should one slip through all the same, the family
// stops growing and counts the rest under "other".
package gauge

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxSeries bounds one family.
const maxSeries = 1000

// Registry is a set of families. The zero value is empty and ready.
type Registry struct {
	mu       sync.Mutex
	families []*family
}

// family is all series of one name.
type family struct {
	name, help, kind string
	labels           []string
	bounds           []float64      // of a histogram, ascending
	read             func() float64 // of a family that is asked instead of told

	mu     sync.Mutex
	series map[string]*series
}

// series is one combination of values of labels.
type series struct {
	values []string
	sum    float64
	counts []uint64 // of a histogram, one for each bound and one beyond
}

func (r *Registry) add(f *family) *family {
	f.series = map[string]*series{}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.families = append(r.families, f)
	return f
}

// Counter is told what happened.
type Counter struct{ f *family }

// Counter declares a counter; by convention its name ends in _total.
func (r *Registry) Counter(name, help string, labels ...string) *Counter {
	return &Counter{r.add(&family{name: name, help: help, kind: "counter", labels: labels})}
}

// Add counts n more, with a value for each label.
func (c *Counter) Add(n float64, values ...string) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.of(values).sum += n
}

// Histogram is told how long something took, or how large it was.
type Histogram struct{ f *family }

// Histogram declares a histogram with ascending upper bounds.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) *Histogram {
	return &Histogram{r.add(&family{name: name, help: help, kind: "histogram", bounds: bounds, labels: labels})}
}

// Observe counts one value.
func (h *Histogram) Observe(v float64, values ...string) {
	at, _ := slices.BinarySearch(h.f.bounds, v)
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s := h.f.of(values)
	s.counts[at]++
	s.sum += v
}

// Gauge declares a figure that is asked for when it is collected. One that is
// not known is NaN, and left out.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.add(&family{name: name, help: help, kind: "gauge", read: read})
}

// Count is a counter that somebody else keeps, asked for as a gauge is.
func (r *Registry) Count(name, help string, read func() float64) {
	r.add(&family{name: name, help: help, kind: "counter", read: read})
}

// of finds a series. The caller holds the lock.
func (f *family) of(values []string) *series {
	key := strings.Join(values, "\x00")
	s, ok := f.series[key]
	if ok {
		return s
	}
	if len(f.series) >= maxSeries {
		values = slices.Repeat([]string{"other"}, len(f.labels))
		key = strings.Join(values, "\x00")
		if s, ok = f.series[key]; ok {
			return s
		}
	}
	s = &series{values: slices.Clone(values)}
	if f.kind == "histogram" {
		s.counts = make([]uint64, len(f.bounds)+1)
	}
	f.series[key] = s
	return s
}

// Write writes every family in the order in which they were declared.
func (r *Registry) Write(w io.Writer) error {
	r.mu.Lock()
	families := slices.Clone(r.families)
	r.mu.Unlock()
	var b bytes.Buffer
	for _, f := range families {
		f.write(&b)
	}
	_, err := b.WriteTo(w)
	return err
}

func (f *family) write(b *bytes.Buffer) {
	head := func() {
		fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, escape(f.help, false), f.name, f.kind)
	}
	if f.read != nil {
		if v := f.read(); !math.IsNaN(v) {
			head()
			fmt.Fprintf(b, "%s %s\n", f.name, number(v))
		}
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	head()
	keys := make([]string, 0, len(f.series))
	for k := range f.series {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		f.series[k].write(b, f)
	}
}

func (s *series) write(b *bytes.Buffer, f *family) {
	if f.kind != "histogram" {
		fmt.Fprintf(b, "%s%s %s\n", f.name, labels(f.labels, s.values), number(s.sum))
		return
	}
	n := uint64(0)
	for i, c := range s.counts {
		n += c
		bound := "+Inf"
		if i < len(f.bounds) {
			bound = number(f.bounds[i])
		}
		fmt.Fprintf(b, "%s_bucket%s %d\n", f.name, labels(append(slices.Clip(f.labels), "le"), append(slices.Clip(s.values), bound)), n)
	}
	fmt.Fprintf(b, "%s_sum%s %s\n%s_count%s %d\n", f.name, labels(f.labels, s.values), number(s.sum), f.name, labels(f.labels, s.values), n)
}

func labels(names, values []string) string {
	if len(names) == 0 {
		return ""
	}
	parts := make([]string, len(names))
	for i, n := range names {
		v := ""
		if i < len(values) {
			v = values[i]
		}
		parts[i] = n + `="` + escape(v, true) + `"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// escape follows the format: quotes only within values of labels.
func escape(s string, quoted bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s)
	if quoted {
		s = strings.ReplaceAll(s, `"`, `\"`)
	}
	return s
}

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// ServeHTTP answers a collector: GET /metrics and nothing else.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/metrics" {
		http.NotFound(w, req)
		return
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this route takes GET", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = r.Write(w) // a collector that hung up asks again
}
