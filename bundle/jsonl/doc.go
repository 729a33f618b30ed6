// Package jsonl reads lines of JSON quickly and without forgiving anything.
//
// It exists because of speed: reading a large task file through encoding/json
// costs more than everything else that is done with it. The decisions:
//
//   - A line is read in one pass over its bytes. Nothing is allocated for a
//     value that nobody asks for, and texts are views of the line until they
//     are wanted as strings.
//   - What is accepted is JSON as encoding/json reads it, less what has two
//     readings: equal keys in one object, broken UTF-8, half of a surrogate
//     pair, and exponents that no grader could compute with. A fuzz target
//     holds the two parsers together.
//   - The caller pulls values in the order in which they stand. The first
//     fault ends the line; every later call is empty. So a reader has no
//     error checks between its steps and one at the end.
//   - Depth, line length and the number of faults are bounded; the memory is
//     that of one line.
//   - A fault has a code, the path of the value and the byte of the line,
//     never a text of the line.
package jsonl
