package value

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
)

// indexFrom is the size from which a dict keeps a map; below it a scan is
// faster and smaller.
const indexFrom = 9

// Dict is a Python dict: it keeps the order in which keys were first set. The
// zero value is empty and ready. A Dict that is no longer changed may be read
// by several goroutines.
type Dict struct {
	items []item
	index map[any]int
}

type item struct{ key, value any }

// DictOf returns a dict of the given keys and values in turn; the keys must be
// hashable, or it panics. It is for tests and constants.
func DictOf(keysAndValues ...any) *Dict {
	d := &Dict{}
	for i := 0; i < len(keysAndValues); i += 2 {
		if err := d.Set(keysAndValues[i], keysAndValues[i+1]); err != nil {
			panic(err)
		}
	}
	return d
}

// Len is the number of keys.
func (d *Dict) Len() int { return len(d.items) }

// At returns the key and value at position i of the order.
func (d *Dict) At(i int) (key, value any) { return d.items[i].key, d.items[i].value }

// All ranges over keys and values in order.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for _, it := range d.items {
			if !yield(it.key, it.value) {
				return
			}
		}
	}
}

// Get returns d[key]; ok is false for a key that is absent or not hashable.
func (d *Dict) Get(key any) (value any, ok bool) {
	if i := d.find(key); i >= 0 {
		return d.items[i].value, true
	}
	return nil, false
}

// Set is d[key] = value. A key that exists keeps its position and its own
// type, as in Python: setting 1.0 after 1 leaves the key 1.
func (d *Dict) Set(key, value any) error {
	if _, ok := key.(string); !ok {
		if _, err := Key(key); err != nil {
			return err
		}
	}
	d.put(key, value)
	return nil
}

// Delete removes key if it is there.
func (d *Dict) Delete(key any) {
	i := d.find(key)
	if i < 0 {
		return
	}
	d.items = append(d.items[:i:i], d.items[i+1:]...)
	d.index = nil
	if len(d.items) >= indexFrom {
		d.buildIndex()
	}
}

// Copy is dict(d): the values are shared.
func (d *Dict) Copy() *Dict {
	out := &Dict{items: append([]item(nil), d.items...)}
	if d.index != nil {
		out.buildIndex()
	}
	return out
}

// put is Set for a key that is known to be hashable.
func (d *Dict) put(key, value any) {
	if i := d.find(key); i >= 0 {
		d.items[i].value = value
		return
	}
	d.items = append(d.items, item{key, value})
	if d.index != nil {
		d.index[hashed(key)] = len(d.items) - 1
	} else if len(d.items) >= indexFrom {
		d.buildIndex()
	}
}

func (d *Dict) buildIndex() {
	d.index = make(map[any]int, 2*len(d.items))
	for i, it := range d.items {
		d.index[hashed(it.key)] = i
	}
}

// hashed is Key for a key that is known to be hashable.
func hashed(key any) any {
	if _, ok := key.(string); ok {
		return key
	}
	k, _ := Key(key)
	return k
}

func (d *Dict) find(key any) int {
	if d.index != nil {
		if _, ok := key.(string); !ok {
			k, err := Key(key)
			if err != nil {
				return -1
			}
			key = k
		}
		if i, ok := d.index[key]; ok {
			return i
		}
		return -1
	}
	if s, ok := key.(string); ok {
		for i := range d.items {
			if have, ok := d.items[i].key.(string); ok && have == s {
				return i
			}
		}
		return -1
	}
	for i := range d.items {
		if Equal(d.items[i].key, key) {
			return i
		}
	}
	return -1
}

func (d *Dict) equal(other *Dict) bool {
	if d.Len() != other.Len() {
		return false
	}
	for _, it := range d.items {
		i := other.find(it.key)
		if i < 0 || !equalInside(it.value, other.items[i].value) {
			return false
		}
	}
	return true
}

// appendTupleKey appends an encoding of t that is equal for equal tuples: each
// element is a kind byte and, where the length varies, a length.
func appendTupleKey(b []byte, t Tuple) ([]byte, error) {
	b = binary.AppendUvarint(append(b, 't'), uint64(len(t)))
	for _, v := range t {
		if sub, ok := v.(Tuple); ok {
			var err error
			if b, err = appendTupleKey(b, sub); err != nil {
				return nil, err
			}
			continue
		}
		k, err := Key(v)
		if err != nil {
			return nil, err
		}
		switch k := k.(type) {
		case nil:
			b = append(b, 'n')
		case int64:
			b = binary.AppendVarint(append(b, 'i'), k)
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(k))
		case string:
			b = append(binary.AppendUvarint(append(b, 's'), uint64(len(k))), k...)
		case bigKey:
			b = append(binary.AppendUvarint(append(b, 'b'), uint64(len(k))), k...)
		default:
			return nil, pycompat.Raise("TypeError", "unhashable type: '%s'", TypeName(v))
		}
	}
	return b, nil
}
