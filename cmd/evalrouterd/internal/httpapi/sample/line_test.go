package sample_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/sample"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// The bytes of a line are those of the record, whatever a model said.
func TestAppend(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~\n\r\t]{0,40}`), rapid.SampledFrom([]string{"", "\x00", "\x7f", "<&>", "\u2028", "\u202e", "\x9b", "\xff\"", "é\n", "\\\"", "\b\f", "a\xed\xa0\x80"}))
		some := rapid.Ptr(text, true)
		s := api.ExportSample{
			ProfileID: text.Draw(t, "profile"), TaskID: text.Draw(t, "task"), Attempt: rapid.Int().Draw(t, "attempt"), Status: text.Draw(t, "status"), Outcome: text.Draw(t, "outcome"),
			ErrorCode: some.Draw(t, "code"), Answer: some.Draw(t, "answer"), AnswerWithheld: some.Draw(t, "withheld"), AnswerSHA256: some.Draw(t, "hash"),
			ChargeMicrousd: usd.Micro(rapid.Int64().Draw(t, "charge")), FinishReason: some.Draw(t, "finish"), OriginRunID: text.Draw(t, "origin"), Reused: rapid.Bool().Draw(t, "reused"),
			Grader: api.GraderRecord{ID: text.Draw(t, "grader"), Version: text.Draw(t, "version"), SHA256: text.Draw(t, "sum")},
		}
		score := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, -1, 0.5, 1e21, 1e-7}), rapid.Float64().Filter(func(v float64) bool { return v-v == 0 }))
		s.Scores = rapid.SampledFrom([]map[string]float64{nil, {}, {sample.Headline: score.Draw(t, "score")}, {"f1": score.Draw(t, "f1")}, {sample.Headline: 1, "f1": 0}, {sample.Headline: negative()}}).Draw(t, "scores")
		if rapid.Bool().Draw(t, "used") {
			s.Usage = &api.SampleUsage{InputTokens: rapid.Int64().Draw(t, "in"), OutputTokens: rapid.Int64().Draw(t, "out")}
		}
		for range rapid.IntRange(0, 2).Draw(t, "judges") {
			s.Judges = append(s.Judges, api.JudgeReply{RouteID: text.Draw(t, "route"), Reply: some.Draw(t, "reply"), Nonce: text.Draw(t, "nonce")})
		}
		want, err := sample.JSON(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sample.Append([]byte("x"), s)
		if err != nil || string(got[1:]) != string(want) {
			t.Fatalf("%v\ngot  %q\nwant %q", err, got[1:], want)
		}
	})
}

// negative is minus zero, which JSON writes with its sign.
func negative() float64 {
	zero := 0.0
	return -zero
}
