package api

// Page is one page of a list. NextCursor is opaque; null means the end.
type Page[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// OKResponse answers an operation that has nothing to return.
type OKResponse struct {
	OK bool `json:"ok"`
}
