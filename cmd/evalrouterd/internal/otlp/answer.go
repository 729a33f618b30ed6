package otlp

import (
	"encoding/json"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Answer is the response to a batch in the encoding of its request.
func Answer(asJSON bool, rejected int, reason string) []byte {
	switch {
	case asJSON && rejected == 0:
		return []byte("{}")
	case asJSON:
		// A map of texts always encodes.
		b, _ := json.Marshal(map[string]map[string]string{"partialSuccess": {"rejectedSpans": strconv.Itoa(rejected), "errorMessage": reason}})
		return b
	case rejected == 0:
		return []byte{}
	}
	inner := protowire.AppendTag(nil, 1, protowire.VarintType)
	inner = protowire.AppendVarint(inner, uint64(rejected))
	inner = protowire.AppendTag(inner, 2, protowire.BytesType)
	inner = protowire.AppendString(inner, reason)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
}

// Failure is a google.rpc.Status, which exporters read of an answer that is no
// success. code is one of gRPC's.
func Failure(code int, message string) []byte {
	b := protowire.AppendTag(nil, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(code))
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	return protowire.AppendString(b, message)
}
