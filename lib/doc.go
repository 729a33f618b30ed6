// Package evalrouter is the typed client of the EvalRouter HTTP API.
//
// A Client is made from a base URL, an API key and a workspace id, and has
// one field for each kind of resource:
//
//	client, err := evalrouter.New(evalrouter.Config{
//		BaseURL:     "https://api.evalrouter.ai",
//		APIKey:      key,
//		WorkspaceID: workspace,
//	})
//	if err != nil { ... }
//	defer client.Close()
//	models, err := client.Catalog.Models(ctx, evalrouter.ModelQuery{})
//
// Money is at stake, so the rules are strict.
//
//   - Creating a quote starts nothing. Submitting the id of an accepted quote
//     can start paid work, and takes an idempotency key.
//   - Keep the quote id and the idempotency key in a durable place before you
//     submit. If the answer is lost, submit the same pair again: the service
//     answers with the same run and starts no second one.
//   - Only operations that are safe to repeat are repeated: reads, a cancel,
//     and submissions with an idempotency key. Nothing else is ever sent twice.
//   - An Error says with Uncertain whether the service may have done what was
//     asked although no answer arrived.
//   - Redirects are never followed, so that a key goes to the configured
//     origin only. Plain http is for loopback addresses, on request.
//   - Answers are bounded in size, and every text of an error answer is
//     cleaned of known secrets and of control characters.
//
// The client keeps no state on disk and starts no goroutine that outlives a
// call. Close ends the calls in flight.
package evalrouter
