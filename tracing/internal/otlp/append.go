package otlp

import (
	"math"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields that hold attributes.
const (
	SpanAttributes     protowire.Number = 9
	EventAttributes    protowire.Number = 3
	LinkAttributes     protowire.Number = 4
	ResourceAttributes protowire.Number = 1
	ScopeAttributes    protowire.Number = 3
)

// Numbers of the fields of AnyValue, KeyValue and ArrayValue.
const (
	keyName     protowire.Number = 1
	keyValue    protowire.Number = 2
	anyString   protowire.Number = 1
	anyBool     protowire.Number = 2
	anyInt      protowire.Number = 3
	anyDouble   protowire.Number = 4
	anyArray    protowire.Number = 5
	arrayValues protowire.Number = 1
)

// String appends an attribute that is a text.
func String[T string | []byte](b []byte, field protowire.Number, key string, value T) []byte {
	n := bytesSize(len(value))
	b = openAttribute(b, field, key, n)
	b = protowire.AppendTag(b, anyString, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(value)))
	return append(b, value...)
}

// Int appends an attribute that is a whole number.
func Int(b []byte, field protowire.Number, key string, value int64) []byte {
	b = openAttribute(b, field, key, 1+protowire.SizeVarint(uint64(value)))
	return appendInt(b, value)
}

// Bool appends an attribute that is a truth value.
func Bool(b []byte, field protowire.Number, key string, value bool) []byte {
	b = openAttribute(b, field, key, 2)
	return appendBool(b, value)
}

// Double appends an attribute that is a number. Not every reader knows what to
// do with NaN and the infinities, so they become texts.
func Double(b []byte, field protowire.Number, key string, value float64) []byte {
	switch {
	case math.IsNaN(value):
		return String(b, field, key, "NaN")
	case math.IsInf(value, 1):
		return String(b, field, key, "Infinity")
	case math.IsInf(value, -1):
		return String(b, field, key, "-Infinity")
	}
	b = openAttribute(b, field, key, 9)
	return appendDouble(b, value)
}

// Strings appends an attribute that is a list of texts.
func Strings(b []byte, field protowire.Number, key string, values []string) []byte {
	n := 0
	for _, v := range values {
		n += bytesSize(bytesSize(len(v)))
	}
	b = openArray(b, field, key, n)
	for _, v := range values {
		b = openElement(b, bytesSize(len(v)))
		b = protowire.AppendTag(b, anyString, protowire.BytesType)
		b = protowire.AppendString(b, v)
	}
	return b
}

// Scalars appends a list of numbers or truth values, and reports false for a
// value of another type.
func Scalars(b []byte, field protowire.Number, key string, v attribute.Value) ([]byte, bool) {
	switch v.Type() {
	case attribute.INT64SLICE:
		return scalars(b, field, key, v.AsInt64Slice(), func(i int64) int { return 1 + protowire.SizeVarint(uint64(i)) }, appendInt), true
	case attribute.BOOLSLICE:
		return scalars(b, field, key, v.AsBoolSlice(), func(bool) int { return 2 }, appendBool), true
	case attribute.FLOAT64SLICE:
		return scalars(b, field, key, v.AsFloat64Slice(), func(float64) int { return 9 }, appendDouble), true
	}
	return b, false
}

func scalars[T any](b []byte, field protowire.Number, key string, values []T, size func(T) int, add func([]byte, T) []byte) []byte {
	n := 0
	for _, v := range values {
		n += bytesSize(size(v))
	}
	b = openArray(b, field, key, n)
	for _, v := range values {
		b = add(openElement(b, size(v)), v)
	}
	return b
}

func appendInt(b []byte, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, anyInt, protowire.VarintType), uint64(v))
}

func appendBool(b []byte, v bool) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, anyBool, protowire.VarintType), protowire.EncodeBool(v))
}

func appendDouble(b []byte, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, anyDouble, protowire.Fixed64Type), math.Float64bits(v))
}

// openAttribute writes everything before an AnyValue of n bytes.
func openAttribute(b []byte, field protowire.Number, key string, n int) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(bytesSize(len(key))+bytesSize(n)))
	b = protowire.AppendTag(b, keyName, protowire.BytesType)
	b = protowire.AppendString(b, key)
	b = protowire.AppendTag(b, keyValue, protowire.BytesType)
	return protowire.AppendVarint(b, uint64(n))
}

// openArray writes everything before the n bytes of an array's elements.
func openArray(b []byte, field protowire.Number, key string, n int) []byte {
	b = openAttribute(b, field, key, bytesSize(n))
	b = protowire.AppendTag(b, anyArray, protowire.BytesType)
	return protowire.AppendVarint(b, uint64(n))
}

func openElement(b []byte, n int) []byte {
	b = protowire.AppendTag(b, arrayValues, protowire.BytesType)
	return protowire.AppendVarint(b, uint64(n))
}

// bytesSize is the size of a field of n bytes whose number is below 16.
func bytesSize(n int) int { return 1 + protowire.SizeBytes(n) }
