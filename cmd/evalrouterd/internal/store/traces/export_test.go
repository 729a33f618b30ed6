package traces

import "errors"

// Cut makes pieces of a value and gives its contents by hash; Join puts them
// together.
func Cut(value []byte) (stored []byte, contents map[[16]byte][]byte, err error) {
	contents = map[[16]byte][]byte{}
	return cut(value, func(hash [16]byte, data []byte) { contents[hash] = append([]byte{}, data...) }), contents, nil
}

func Join(stored []byte, contents map[[16]byte][]byte) ([]byte, error) {
	return join(stored, func(h [16]byte) ([]byte, bool) { b, ok := contents[h]; return b, ok })
}

// Packed is how many bytes a text takes where it is kept.
func Packed(text []byte) (int, error) {
	p, err := newPacker()
	if err != nil {
		return 0, err
	}
	small := p.pack(text)
	if back, err := p.unpack(small); err != nil || string(back) != string(text) {
		return 0, errors.Join(err, errPieces)
	}
	return len(small), nil
}
