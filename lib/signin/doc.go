// Package signin signs people in, keeps what that gives them, and hands out
// tokens that are still good. It is the client's side of RFC 8252 with PKCE
// (RFC 7636), RFC 8628, RFC 6749 and RFC 7009, whose forms golang.org/x/oauth2
// writes; that is the one reason for which lib requires it.
//
// Two private files are kept in one private directory. profile.json says where
// somebody is signed in and in which workspace, and holds no secret: reading it
// is all that a command needs that asks nothing of a service. credentials.json
// holds the tokens, or the keychain does. Both are replaced whole, under a lock
// between processes, so that a refresh token is used by one process at a time:
// a second use of an old one ends the sign-in.
//
// A process that dies after the service has given the next pair and before it
// is saved leaves the old token behind. The service answers that one with the
// same pair for a minute, so the next process goes on.
package signin
