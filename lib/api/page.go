package api

// Page is one page of a list. NextCursor is opaque; null means the end.
type Page[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// HealthRecord says that the process answers. Proof is there when a local
// service was asked with the header X-Local-Nonce, 32 to 64 hexadecimal
// digits: HMAC-SHA-256 over the nonce's text, a line feed and the Host header of
// the request, keyed with the text of the owner's token, in lower-case
// hexadecimal. Who checks it before sending the token never hands the token to a
// stranger on the port, nor to one who asks the service at another port.
type HealthRecord struct {
	OK    bool   `json:"ok"`
	Proof string `json:"proof,omitempty"`
}

// OKResponse answers an operation that has nothing to return.
type OKResponse struct {
	OK bool `json:"ok"`
}
