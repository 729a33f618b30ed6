package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// LostRace says that the database broke off a transaction in favour of
// another one.
func LostRace(err error) bool {
	code := pgCode(err)
	return code == "40001" || code == "40P01" // serialization_failure, deadlock_detected
}

// Unreachable says that an error comes from a database that could not be
// reached or was too busy at the moment: the same call can succeed later. What
// a failed write did is for its caller to find out.
func Unreachable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) {
		return true
	}
	switch code := pgCode(err); {
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "57P"), strings.HasPrefix(code, "53"), LostRace(err):
		return true // connection, shutdown or start, resources, races
	case code == "55P03", code == "57014", code == "25P03":
		return true // lock_not_available, query_canceled, idle_in_transaction_session_timeout
	}
	return strings.Contains(err.Error(), "conn closed")
}

func pgCode(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}
