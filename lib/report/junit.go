package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// JUnit writes a run as JUnit XML with one case a planned task, in the run's
// order. A task that is not right is a failure, one without a score an error,
// one that was not run is skipped; the counts of the suite are the run's own.
//
// The elements are those that CI systems read (testsuites, testsuite,
// properties, testcase, failure, error, skipped). Characters that XML cannot
// hold are shown as text.
func JUnit(w io.Writer, r Report, tasks Tasks) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var n [4]int
	for _, o := range r.Outcomes {
		n[kindIndex(o.Kind)] += o.N
	}
	counts := fmt.Sprintf(` tests="%d" failures="%d" errors="%d" skipped="%d"`, r.Coverage.Planned, n[1], n[2], n[3])
	fmt.Fprintf(out, "%s<testsuites name=%s%s>\n<testsuite name=%s%s>\n<properties>\n", xml.Header, attr(r.Benchmark), counts, attr(r.Benchmark+": "+r.Model), counts)
	for _, f := range junitProperties(r) {
		fmt.Fprintf(out, "<property name=%s value=%s/>\n", attr(plain.Line(f.Name)), attr(f.Value))
	}
	out.WriteString("</properties>\n")
	for t, err := range tasks {
		if err != nil {
			return fmt.Errorf("read tasks: %w", err)
		}
		writeCase(out, r, t)
	}
	out.WriteString("</testsuite>\n</testsuites>\n")
	return out.Flush()
}

func kindIndex(k Kind) int {
	switch k {
	case Passed:
		return 0
	case Missed:
		return 1
	case Faulty:
		return 2
	}
	return 3
}

func junitProperties(r Report) []Fact {
	out := []Fact{{"status", r.Status}, {"finished_at", plain.Line(r.FinishedAt)}, {"spent", plain.Line(Dollars(r.Money.Spend))}, {"cap", plain.Line(Dollars(r.Money.Cap))}}
	for _, f := range r.Figures {
		out = append(out, Fact{string(line("figure." + f.Key)), plain.Line(f.Words())})
	}
	if r.Simulated {
		out = append(out, Fact{"simulated", "true"})
	}
	return append(out, r.Provenance...)
}

// writeCase writes one task; the writer remembers a failure for Flush.
func writeCase(out *bufio.Writer, r Report, t Task) {
	word := wordOf(t.Outcome)
	fmt.Fprintf(out, "<testcase classname=%s name=%s", attr(r.Benchmark), attr(plain.Line(cut(t.TaskID, maxTitle))))
	element := ""
	switch word.kind {
	case Passed:
		out.WriteString("/>\n")
		return
	case Missed:
		element = "failure"
	case Faulty:
		element = "error"
	case NotRun:
		fmt.Fprintf(out, "><skipped message=%s/></testcase>\n", attr(plain.Line(cut(word.label, maxTitle))))
		return
	}
	message := word.label
	if code := value(t.ErrorCode); code != "" {
		message += ": " + code
	}
	if len(t.Target) > 0 {
		message += ", expected " + t.Target[0]
	}
	fmt.Fprintf(out, "><%s type=%s message=%s>", element, attr(plain.Line(cut(t.Outcome, maxTitle))), attr(plain.Line(cut(message, maxShort))))
	if t.Answer != nil {
		// A write to a bufio.Writer fails for good, and Flush says so.
		_ = xml.EscapeText(out, []byte(plain.Block(cut(*t.Answer, maxShort))))
	}
	fmt.Fprintf(out, "</%s></testcase>\n", element)
}

// attr is text as a quoted attribute.
func attr(s plain.Safe) string {
	var b strings.Builder
	b.WriteByte('"')
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	b.WriteByte('"')
	return b.String()
}
