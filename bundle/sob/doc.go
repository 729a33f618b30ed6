// Package sob scores structured answers as the Structured Output Benchmark
// does (SOB, JigsawStack/sob at 09b449a, MIT), to the last bit: the records, the
// summaries with their bootstrap intervals, and the leaderboard row.
//
// # What is reproduced, faults included
//
//   - Metrics are gated. A record whose answer is not valid under its schema
//     has 0 everywhere but in strict_json_em, which looks at neither the schema
//     nor the gates: a null answer to a null ground truth is a perfect response.
//   - For text the structure must be 95 % right before values count at all; for
//     image and audio they count by the square of the coverage over 0.9.
//   - Paths are texts, so a key "a.b" collides with b inside a, an empty key at
//     the root loses its value, and a key with a bracket can make a record
//     impossible to score.
//   - 1.0 is a number and no integer for type precision, and an integer for the
//     schema. null where the schema says ["string", "null"] is a mismatch.
//   - Means are CPython 3.12 sums. One generator for the plain summary and one
//     for the weighted one run through all metrics and categories in order.
//
// # What is ours
//
// Where the reference raises, and would end its whole run, a record ends as an
// error here, with the class of the Python exception in a *pycompat.Error. It
// is never a score of 0 and never part of a denominator. So it is with answers
// and schemas that would take more work than is reasonable: ErrSize here, and
// the budgets of draft7. A schema is prepared once, however many answers are
// held to it.
//
// One figure of the reference depends on where it runs: it squares the coverage
// of image and audio with the C library's pow, whose last bit is not the correctly
// rounded one for about one value in 700 under glibc. Here the square is always
// rounded correctly. None of the published records that the tests replay is among
// the values that differ.
//
// Values are those of package pycompat/value; nothing here changes a value that
// it is given, and everything may be called from several goroutines.
package sob
