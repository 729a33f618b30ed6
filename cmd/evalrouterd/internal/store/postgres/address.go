package postgres

import (
	"errors"
	"net/url"
	"strings"
)

// Address reads the address of a database without ever repeating it in an error:
// a mistyped one may be a password.
func Address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") || u.Host == "" && !u.Query().Has("host") || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("the address of the database is not of the form postgres://USER@HOST/NAME")
	}
	return u, nil
}

// Shown is an address without user and password.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "PostgreSQL"
	}
	return "postgres://" + u.Host + u.Path
}
