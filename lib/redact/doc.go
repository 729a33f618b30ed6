// Package redact takes secrets out of captured content and bounds its size,
// before it leaves the machine where it was made and again where it is stored.
//
// Decisions:
//
//   - A field is judged by the words of its name, never by a substring: "token"
//     as a substring would erase input_tokens and max_tokens, which are what
//     people keep traces for. name.go has the words and the exceptions.
//   - Values are searched for the shapes of well-known credentials as well, and
//     for name=value inside text, in JSON inside strings, and in base64.
//   - Everything fails closed. What is too deep, too long or not understood is
//     replaced, never passed through, and a panic costs the whole value.
//   - Secrets go before bounds are applied, so that no cut can split a secret
//     and hide one half from the search.
//   - The output is canonical JSON (sorted members), at most Limits.Value bytes,
//     and a fixed point: redacting it again changes nothing, so that client and
//     service may both do it.
//   - Most values hold nothing to hide. fast.go copies those without making a
//     tree, and leaves every decision to walk.go: a test holds both to one result.
//
// Marks that stand in for content:
//
//	{"$redacted":"password"}                        a field with a sensitive name
//	[redacted:password]                             a part of a text
//	{"$truncated":{"reason":"items","original":9}}  what a bound took away
//	{"$blob":{"bytes":9,"mime":"image/png","sha256":"..."}}
//
// The word in a mark is the rule that fired, out of a fixed list, never a part
// of the content.
package redact
