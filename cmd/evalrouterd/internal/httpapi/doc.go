// Package httpapi is the HTTP contract of the service: it reads requests,
// checks who may make them, calls the domain and writes records. It is the
// only importer of lib/api, so that wire and domain can change apart.
//
// The decisions that hold for every route:
//
//   - A route stands in one table (routes.go) with its method, path, who may
//     call it and which scope that takes. A route that does not say so does
//     not start.
//   - JSON is read strictly (internal/strictjson); the same reader is the only
//     format that the router knows. A refusal names paths and codes, never a
//     value that was sent.
//   - Query parameters and headers are read as strictly: an unknown parameter,
//     a second value where one counts and an encoded body are refused.
//   - Text from elsewhere leaves as it came, with \u escapes for characters
//     that act on a terminal; sentences of errors hold it in visible form.
//   - Every answer carries X-Request-Id. Every failure is the one envelope,
//     unmatched routes and methods too. The status of a code stands in one
//     table (status.go).
//   - Nothing is cached but the public catalog, and that only for callers who
//     sent no credential.
//   - What belongs to another workspace reads as missing.
//
// huma describes the API and binds parameters; its own error model, schema
// links, documentation page and content negotiation are not used.
package httpapi
