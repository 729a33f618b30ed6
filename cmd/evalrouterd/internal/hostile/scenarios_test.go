package hostile_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// usage costs 40 + 2*20 = 80 micro-dollars.
const (
	usage    = `"usage":{"prompt_tokens":40,"completion_tokens":20,"total_tokens":60}`
	body     = `{"id":"c-1","model":"m","choices":[{"message":{"role":"assistant","content":"ANSWER: 1"},"finish_reason":"stop"}],` + usage + `}`
	noUsage  = `{"id":"c-1","model":"m","choices":[{"message":{"content":"ANSWER: 1"},"finish_reason":"stop"}]}`
	cost     = 80
	worst    = 671         // reserved for the first task: its bytes and a margin, and 100 tokens of output
	brief    = time.Second // the deadline of calls that never end
	unsaid   = "unresolved provider_outcome_unknown"
	timedOut = "unresolved provider_timeout"
)

// good is the answer of a provider that works.
var good = respond(200, body)

// answered is the record of one good answer after the calls given.
func answered(before ...core.CallState) want {
	return want{Calls: append(before, core.CallResponded), Task: "graded", Charged: cost, Requests: len(before) + 1, Reason: core.ReasonCompleted, Kept: 1}
}

// lost is the record of one call that may have been processed.
func lost(task string, kept int) want {
	return want{Calls: states(core.CallUnknown), Task: task, Waived: true, Requests: 1, Reason: core.AllTasksFailed, Kept: kept}
}

// stopped is the record of a run that its first rejection ends.
func stopped(reason core.Reason) want {
	return want{Calls: states(core.CallRejected), Task: "planned", Requests: 1, Reason: reason}
}

// failed is the record of a task that is left out for its own fault.
func failed(task string) want {
	return want{Calls: states(core.CallRejected), Task: task, Requests: 1, Reason: core.AllTasksFailed}
}

// unreachable is the record of an endpoint that no request ever reached: the run
// waits for it, in the open, until somebody cancels it.
func unreachable() want {
	return want{Calls: times(5, core.CallVoided), Task: "planned", Reason: core.CancelledByUser}
}

// notSent: no connection was obtained, so the provider did no work: tried
// again, five times, for nothing, and then waited for.
func notSent() []scenario {
	never := unreachable()
	garbage := func(text string) scenario { return scenario{base: "https://{addr}", greet: say(text), want: never} }
	named := func(name string, s scenario) scenario { s.name = "not sent: " + name; return s }
	return []scenario{
		named("nothing listens", scenario{base: "http://127.0.0.1:1", want: never}),
		named("no such name", scenario{base: "http://gone.example:{port}", want: never}),
		named("no name server", scenario{base: "http://gone.example:{port}", names: func(int) (string, error) { return "", errors.New("down") }, want: never}),
		named("a certificate that nobody trusts", scenario{secure: true, want: never}),
		named("plain HTTP instead of TLS", garbage("HTTP/1.1 400 Bad Request\r\n\r\n")),
		named("garbage instead of TLS", garbage("\x00\xff\x00\xff garbage garbage garbage")),
		named("TLS cut at once", garbage("")),
		named("TLS cut in the first record", garbage("\x16\x03\x03\x00\x7a\x02")),
		named("a TLS alert", garbage("\x15\x03\x03\x00\x02\x02\x28")),
		named("TLS reset", scenario{base: "https://{addr}", greet: reset(""), want: never}),
		named("silence in the TLS handshake", scenario{base: "https://{addr}", greet: hang(""), patience: brief / 5, want: never}),
		named("the name is found at the third look-up", scenario{
			base: "http://late.example:{port}",
			names: func(n int) (string, error) {
				if n < 3 {
					return "", nil
				}
				return "127.0.0.1", nil
			},
			want: want{Calls: states(core.CallVoided, core.CallVoided, core.CallResponded), Task: "graded", Charged: cost, Requests: 1, Reason: core.ReasonCompleted, Kept: 1},
		}),
		named("a name that leads to metadata", scenario{
			base: "http://evil.example:{port}", names: func(int) (string, error) { return "169.254.169.254", nil },
			want: want{Calls: states(core.CallRejected), Task: "planned", Reason: core.ProviderDown},
		}),
	}
}

// rejections: the provider says that it did nothing and to come back.
func rejections() []scenario {
	again := func(name string, first act, waited time.Duration) scenario {
		w := answered(core.CallRejected)
		w.Waited = waited // less real time passed meanwhile
		return scenario{name: "rejected: " + name, answers: []act{first}, want: w}
	}
	limited := jsonError("rate_limit_exceeded", "slow down")
	storm := func(n int, waited time.Duration) want {
		w := answered(times(n, core.CallRejected)...)
		w.Waited = waited // less real time passed meanwhile
		return w
	}
	return []scenario{
		again("429", keep(respond(429, limited)), time.Second/2),
		again("429 with seconds", keep(respond(429, limited, "Retry-After: 7")), 7*time.Second),
		again("429 with milliseconds", keep(respond(429, limited, "Retry-After-Ms: 9500")), 9500*time.Millisecond),
		again("429 with a date", keep(respond(429, limited, "Date: Sun, 29 Nov 2026 12:00:00 GMT", "Retry-After: Sun, 29 Nov 2026 12:01:00 GMT")), time.Minute),
		again("429 with a hint that is none", keep(respond(429, limited, "Retry-After: soon")), time.Second/2),
		again("429 that asks for an hour parks the run", keep(respond(429, limited, "Retry-After: 3600")), time.Hour-time.Minute),
		again("429 with a page instead of JSON", keep(respond(429, "<html>too many</html>")), time.Second/2),
		again("429 without a body", keep(respond(429, "")), time.Second/2),
		again("429 cut in its body", say(cut(respond(429, limited), -9)), time.Second/2),
		again("503 with the documented word", keep(respond(503, jsonError("server_is_overloaded", "busy"))), time.Second/2),
		again("529 with the documented word", keep(respond(529, jsonError("overloaded_error", "busy"))), time.Second/2),
		{name: "rejected: a storm of 30", answers: repeat(30, keep(respond(429, limited))), want: storm(30, 10*time.Minute)},
		{name: "rejected: a storm of 100 parks the run and ends", answers: repeat(100, keep(respond(429, limited))), want: storm(100, 30*time.Minute)},
		{
			name: "rejected: 429 that asks for longer than a run may last", then: keep(respond(429, limited, "Retry-After: 172800")),
			want: want{Calls: states(core.CallRejected), Task: "planned", Requests: 1, Reason: core.TimeLimit, Waited: 23 * time.Hour},
		},
	}
}

// definitive: the provider says no, and asking again cannot help.
func definitive() []scenario {
	one := func(name string, status int, text string, w want) scenario {
		return scenario{name: "definitive: " + name, then: keep(respond(status, text)), want: w}
	}
	return []scenario{
		one("400 about a parameter", 400, jsonError("unsupported_parameter", "no such parameter"), stopped(core.ProviderDown)),
		one("400 too long", 400, jsonError("context_length_exceeded", "too long"), failed("failed provider_error")),
		one("400 against policy", 400, jsonError("content_policy_violation", "no"), failed("refused refused")),
		one("401", 401, jsonError("invalid_api_key", "who are you"), stopped(core.CredentialFailed)),
		one("402", 402, jsonError("", "pay first"), stopped(core.ProviderDown)),
		one("403", 403, jsonError("", "not you"), stopped(core.CredentialFailed)),
		one("404", 404, jsonError("model_not_found", "no such model"), stopped(core.ProviderDown)),
		one("405", 405, "", stopped(core.ProviderDown)),
		one("413", 413, "", failed("failed provider_error")),
		one("415", 415, "", stopped(core.ProviderDown)),
		one("422 about the content", 422, `{"error":{"message":"bad","param":"messages.0.content"}}`, failed("failed provider_error")),
		one("422 about anything else", 422, jsonError("", "bad"), stopped(core.ProviderDown)),
		one("429 without money", 429, jsonError("insufficient_quota", "pay first"), stopped(core.ProviderDown)),
		one("429 for one task that asks too much", 429, jsonError("rate_limit_exceeded", "Limit 100, Requested 500"), failed("failed provider_error")),
	}
}

// answers: a whole answer is recorded and paid once, however it came.
func answers() []scenario {
	one := func(name, text string, w want) scenario {
		return scenario{name: "answered: " + name, then: say(text), want: w}
	}
	plain := answered()
	refused := plain
	refused.Task, refused.Reason = "refused refused", core.AllTasksFailed
	silent := plain
	silent.Charged, silent.Absorbed = 0, worst
	dear := plain
	dear.Charged, dear.Absorbed = worst, 2040-worst
	two := want{Calls: states(core.CallResponded, core.CallResponded), Task: "graded", Charged: 2 * cost, Requests: 2, Reason: core.ReasonCompleted, Kept: 2}
	return []scenario{
		one("plain", good, plain),
		one("in chunks", chunked(body, 7, "0\r\n\r\n"), plain),
		one("a chunk a byte", chunked(body, 1, "0\r\n\r\n"), plain),
		one("with trailers", chunked(body, 50, "0\r\nX-Checksum: 1\r\n\r\n"), plain),
		one("without a length", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+body, plain),
		one("by HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n"+body, plain),
		one("after 100 Continue", "HTTP/1.1 100 Continue\r\n\r\n"+good, plain),
		one("after early hints", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"+good, plain),
		one("whole, though its length promised more", strings.Replace(good, fmt.Sprint("Content-Length: ", len(body)), fmt.Sprint("Content-Length: ", len(body)+100), 1), plain),
		{name: "answered: slowly, byte by byte", then: drip(good, time.Millisecond/4), want: plain},
		{name: "answered: twice for one request", tasks: 2, answers: []act{keep(good + good), keep(good)}, want: two},
		{name: "answered: with bytes after its end", tasks: 2, answers: []act{keep(good + "garbage"), keep(good)}, want: two},
		{name: "answered: on a connection that is closed at once", tasks: 2, answers: []act{say(good), say(good)}, want: two},
		one("at the length limit", respond(200, strings.Replace(body, `"stop"`, `"length"`, 1)), plain),
		one("filtered", respond(200, strings.Replace(body, `"stop"`, `"content_filter"`, 1)), refused),
		one("refused by the model", respond(200, strings.Replace(body, `"content":"ANSWER: 1"`, `"content":null,"refusal":"I will not"`, 1)), refused),
		one("without usage", respond(200, noUsage), silent),
		one("with negative usage", respond(200, strings.Replace(body, `"prompt_tokens":40`, `"prompt_tokens":-40`, 1)), silent),
		one("with usage that does not add up", respond(200, strings.Replace(body, `"total_tokens":60`, `"total_tokens":61`, 1)), silent),
		one("dearer than its bound", respond(200, strings.Replace(body, `"prompt_tokens":40,"completion_tokens":20,"total_tokens":60`, `"prompt_tokens":2000,"completion_tokens":20,"total_tokens":2020`, 1)), dear),
		one("with usage beyond belief", respond(200, strings.Replace(body, `"prompt_tokens":40,"completion_tokens":20,"total_tokens":60`, `"prompt_tokens":9000000,"completion_tokens":20,"total_tokens":9000020`, 1)), silent),
	}
}

// malformed: a success that holds no answer. With usage it was worked on and
// is paid for; without, nobody knows.
func malformed() []scenario {
	unknown := func(name, text string, kept int) scenario {
		return scenario{name: "malformed: " + name, then: keep(respond(200, text)), want: lost(unsaid, kept)}
	}
	paid := func(name, text string) scenario {
		w := answered()
		w.Task, w.Reason = "failed invalid_output", core.AllTasksFailed
		return scenario{name: "malformed: " + name, then: keep(respond(200, text)), want: w}
	}
	return []scenario{
		unknown("no body", "", 0),
		unknown("a page", "<html><body>It works!</body></html>", 1),
		unknown("half of the JSON", cut(body, len(body)/2), 1),
		unknown("null", "null", 1),
		unknown("a list", "["+body+"]", 1),
		unknown("no choices", `{"choices":[]}`, 1),
		unknown("a message that is null", `{"choices":[{"message":null,"finish_reason":"stop"}]}`, 1),
		unknown("NaN", strings.Replace(body, "40", "NaN", 1), 1),
		unknown("an error with a success", `{"error":{"message":"upstream failed"}}`, 1),
		unknown("an event stream", "data: {\"choices\":[{\"delta\":{\"content\":\"1\"}}]}\n\n", 1),
		unknown("compressed all the same", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xab\x56", 1),
		unknown("more than 8 MiB", `{"choices":[{"message":{"content":"`+strings.Repeat("x", 8<<20)+`"}}]}`, 1),
		paid("no choices, with usage", `{"choices":[],`+usage+`}`),
		paid("a message that is null, with usage", `{"choices":[{"message":null,"finish_reason":"stop"}],`+usage+`}`),
		paid("an error, with usage", `{"error":{"message":"upstream failed"},`+usage+`}`),
		paid("broken off by the server, with usage", strings.Replace(body, `"stop"`, `"error"`, 1)),
	}
}

// serverErrors may have been processed: never asked again, never charged.
func serverErrors() (all []scenario) {
	for _, status := range []int{500, 501, 502, 503, 505, 520, 599} {
		all = append(all, scenario{name: fmt.Sprint("server error: ", status), then: keep(respond(status, jsonError("", "oops"))), want: lost(unsaid, 1)})
	}
	all = append(all,
		scenario{name: "server error: 504", then: keep(respond(504, jsonError("", "late"))), want: lost(timedOut, 1)},
		scenario{name: "server error: 408", then: keep(respond(408, jsonError("", "late"))), want: lost(timedOut, 1)},
		scenario{name: "server error: 500 with a page", then: keep(respond(500, "<html>")), want: lost(unsaid, 1)},
		scenario{name: "server error: 500 cut in its body", then: say(cut(respond(500, jsonError("", "oops")), -5)), want: lost(unsaid, 1)},
		scenario{name: "server error: 500 with a hint is not a leave to ask again", then: keep(respond(500, "{}", "Retry-After: 1")), want: lost(unsaid, 1)},
	)
	storm := want{Calls: times(3, core.CallUnknown), Task: unsaid, Waived: true, Requests: 3, Reason: core.ProviderDown, Kept: 3}
	return append(all, scenario{name: "server error: a storm stops the run after three", tasks: 10, then: keep(respond(500, "{}")), want: storm})
}

// broken: a connection was obtained and no whole answer came over it.
func broken() []scenario {
	at := func(name string, a act, kept int) scenario {
		return scenario{name: "broken: " + name, then: a, want: lost(unsaid, kept)}
	}
	never := func(name string, a act, kept int) scenario {
		return scenario{name: "broken: " + name, then: a, patience: brief, want: lost(timedOut, kept)}
	}
	head := strings.Index(good, "\r\n\r\n") + 4
	unread := lost(unsaid, 0)
	unread.Requests = 0
	dropped := want{Calls: times(3, core.CallUnknown), Task: unsaid, Waived: true, Requests: 3, Reason: core.ProviderDown}
	return []scenario{
		at("closed without a byte", say(""), 0),
		at("reset without a byte", reset(""), 0),
		at("cut in the status line", say(cut(good, 9)), 0),
		at("cut after the status line", say("HTTP/1.1 200 OK\r\n"), 0),
		at("cut in a header", say(cut(good, 40)), 0),
		at("cut before the body", say(cut(good, head)), 0),
		at("cut after the body's first byte", say(cut(good, head+1)), 1),
		at("cut in the middle of the body", say(cut(good, head+len(body)/2)), 1),
		at("cut before the last byte", say(cut(good, -1)), 1),
		at("chunks without an end, cut in one", say(cut(chunked(body, 30, ""), -5)), 1),
		at("a chunk of no size", say(chunked(cut(body, 30), 30, "zz\r\n")), 1),
		at("a chunk of every size", say(chunked(cut(body, 30), 30, "ffffffffffffffffff\r\n")), 1),
		at("garbage", say("\x00\x01\x02\x03 garbage\r\n\r\n"), 0),
		at("another protocol", say("SSH-2.0-OpenSSH_9.2\r\n"), 0),
		at("HTTP/2 without being asked", say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0),
		at("a status of no meaning", say("HTTP/1.1 ABC OK\r\n\r\n"), 0),
		at("headers without an end", say("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 128<<10)), 0),
		at("headers of a megabyte", say("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n"+body), 0),
		at("a negative length", say(strings.Replace(good, "Content-Length: ", "Content-Length: -", 1)), 0),
		at("two lengths", say(strings.Replace(good, "Content-Length:", "Content-Length: 7\r\nContent-Length:", 1)), 0),
		at("hints without an end", say(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 20)), 0),
		never("silence", hang(""), 0),
		never("silence after the headers", hang(cut(good, head)), 0),
		never("silence in the body", hang(cut(good, head+30)), 1),
		never("headers byte by byte", drip(good, 20*time.Millisecond), 0),
		never("a body byte by byte", func(c net.Conn) bool { return keep(cut(good, head))(c) && drip(body, 20*time.Millisecond)(c) }, 1),
		{name: "broken: closed before the request was read", greet: say(""), want: unread},
		{name: "broken: reset before the request was read", greet: reset(""), want: unread},
		{
			name: "broken: a kept connection closed under the second request", tasks: 2, answers: []act{keep(good), say("")},
			want: want{Calls: states(core.CallResponded, core.CallUnknown), Task: unsaid, Charged: cost, Waived: true, Requests: 2, Reason: core.ReasonCompleted, Kept: 1},
		},
		{name: "broken: every answer dropped stops the run after three", tasks: 10, then: say(""), want: dropped},
		{name: "broken: every answer reset stops the run after three", tasks: 10, then: reset(cut(good, 5)), want: dropped},
	}
}

// redirects are answers, never instructions.
func redirects() (all []scenario) {
	for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
		all = append(all, scenario{
			name: fmt.Sprint("redirect: ", status), then: keep(respond(status, "", "Location: http://127.0.0.1:1/elsewhere")), want: stopped(core.ProviderDown),
		})
	}
	return all
}
