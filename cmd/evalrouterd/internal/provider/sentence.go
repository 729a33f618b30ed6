package provider

// Sentence says what happened in our own words, by the reason alone. What a
// provider writes about the operator's account (names, quotas, ids of its
// organisation) is not for those who only use a managed route.
func Sentence(o Outcome) string {
	if s, ok := byReason(o.Reason); ok {
		return s
	}
	switch {
	case o.Refused:
		return "the provider refused to answer this task"
	case o.Malformed:
		return "the provider's answer cannot be read"
	case o.Class == Unknown:
		return "the provider gave no usable answer, and may have worked on the request"
	}
	switch o.Reach {
	case ThisTask:
		return "the provider does not take this task"
	case Route:
		return "the provider does not take requests of this kind on this route; its operator can look into it"
	case Connection:
		return "the provider does not accept the credential of this route; its operator can look into it"
	case Account:
		return "the operator's account at the provider has no money or quota left"
	case Overload:
		return "the provider is overloaded, or limits how much it is asked"
	}
	return "the provider answered with an error"
}

func byReason(reason string) (string, bool) {
	switch reason {
	case "context_too_long":
		return "the task is longer than the model's context window", true
	case "request_over_limit":
		return "the task is larger than any request that the provider takes", true
	case "invalid_content":
		return "the provider objects to the text of this task", true
	case "quota_exhausted":
		return "the operator's account at the provider has no money or quota left", true
	case "rate_limited":
		return "the provider limits how much it is asked", true
	case "overloaded":
		return "the provider has no capacity at the moment", true
	case "model_not_found":
		return "the provider does not know the model of this route; its operator can look into it", true
	case "endpoint_refused":
		return "this service does not reach the address of this route; its operator can look into it", true
	case "provider_redirect":
		return "the provider's address has moved; the operator of this route can look into it", true
	case "timeout":
		return "no complete answer came in time", true
	case "server_error":
		return "the provider met an error of its own, and may have worked on the request", true
	case "body_over_limit":
		return "the provider's answer is larger than what is read", true
	case "cut", "stream_cut", "interrupted":
		return "the connection broke before the answer was complete", true
	}
	return "", false
}
