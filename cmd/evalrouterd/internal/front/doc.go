// Package front is where the network meets the service: the socket, TLS, who
// may be connected and for how long, and the end of all that in order. What is
// asked is the handler's business.
//
// The decisions behind it:
//
//   - Certificates are files, read again when they change. What renews them is
//     the operator's choice, and no connection is dropped for a new one. There
//     is no ACME client in here: it would be the only part of the service that
//     calls a stranger by itself, and any of the usual ones writes files.
//   - Plain HTTP is for loopback and for declared proxies. Whoever else comes
//     over it is hung up on before a byte is read, because the first bytes
//     would hold a key that everybody on the way can see.
//   - Who a request comes from is the peer of its connection. What a declared
//     proxy says in X-Forwarded-For is believed from the right, up to the first
//     address that is no declared proxy. From anybody else the headers are taken
//     away, so that nothing behind this package can trust them by mistake.
//   - Connections are bounded, in all and by peer, and each has so long for its
//     headers, its body and each piece of an answer. Too many are hung up on: an
//     answer would cost what the bound is to save.
//   - A socket may come from the process manager (LISTEN_FDS). It stays open
//     while one process ends and the next one begins, so connections that come
//     between the two wait and are not refused.
//   - The end has two parts. While it drains everything is answered, each
//     answer asks for the connection to be closed, and the handler says no to
//     what would begin work. Then it shuts down: long polls are ended, other
//     requests have seconds to finish.
package front
