package traces

// Cut makes pieces of a value and gives its contents by hash; Join puts them
// together.
func Cut(value []byte) (stored []byte, contents map[[16]byte][]byte, err error) {
	contents = map[[16]byte][]byte{}
	return cut(value, func(hash [16]byte, data []byte) { contents[hash] = append([]byte{}, data...) }), contents, nil
}

func Join(stored []byte, contents map[[16]byte][]byte) ([]byte, error) {
	return join(stored, func(h [16]byte) ([]byte, bool) { b, ok := contents[h]; return b, ok })
}
