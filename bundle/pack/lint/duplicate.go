package lint

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
)

// duplicates finds questions that stand twice, and with MinHash those that
// nearly do: tasks that share a band of hashes are compared word by word.
type duplicates struct {
	exact map[uint64]int   // by question: position in tasks
	bands map[uint64][]int // by band
	tasks []question
}

type question struct {
	line    int
	answer  uint64
	numbers uint64
	words   []uint32 // sorted, without repetition, the first maxWords
}

const (
	bandCount = 8
	bandRows  = 3
	maxWords  = 512
	// alike is the share of words that nearly equal questions have in common.
	alike = 0.8
	// maxCompared bounds how many earlier tasks of a band are looked at: where
	// a template made thousands of tasks, the first tell enough.
	maxCompared = 16
)

func newDuplicates() *duplicates {
	return &duplicates{exact: map[uint64]int{}, bands: map[uint64][]int{}}
}

// add answers the rule that a task breaks and the line of the other task, ""
// for none.
func (d *duplicates) add(line int, t bundle.Task) (rule, other string) {
	all := questionWords(t)
	q := question{line: line, answer: answerKey(t)}
	var numbers []string
	for _, w := range all {
		if isNumber(w) {
			numbers = append(numbers, w)
		}
		q.words = append(q.words, uint32(hash(w)))
	}
	q.numbers = hash(numbers...)
	slices.Sort(q.words)
	q.words = slices.Compact(q.words)
	q.words = slices.Clip(q.words[:min(len(q.words), maxWords)])
	key := hash(all...)
	if i, ok := d.exact[key]; ok {
		if d.tasks[i].answer != q.answer {
			return "task_contradicted", strconv.Itoa(d.tasks[i].line)
		}
		return "task_repeated", strconv.Itoa(d.tasks[i].line)
	}
	at := len(d.tasks)
	d.exact[key] = at
	d.tasks = append(d.tasks, q)
	if i := d.near(q, at); i >= 0 {
		return "task_nearly_repeated", strconv.Itoa(d.tasks[i].line)
	}
	return "", ""
}

// near finds an earlier task that is nearly the same, -1 if there is none, and
// enters the new one.
func (d *duplicates) near(q question, at int) int {
	found := -1
	for _, band := range bandsOf(q.words) {
		earlier := d.bands[band]
		for _, i := range earlier {
			e := d.tasks[i]
			if found < 0 && e.answer == q.answer && e.numbers == q.numbers && common(e.words, q.words) >= alike {
				found = i
			}
		}
		if len(earlier) < maxCompared {
			d.bands[band] = append(earlier, at)
		}
	}
	return found
}

// questionWords is everything that is asked, in order. Options follow sorted:
// the same options in another order are the same question.
func questionWords(t bundle.Task) []string {
	var all []string
	for _, m := range t.Input {
		all = append(all, string(m.Role))
		all = append(all, words(m.Text)...)
	}
	var options []string
	for _, c := range t.Choices {
		options = append(options, optionKey(c))
	}
	slices.Sort(options)
	return append(all, options...)
}

// answerKey is equal for tasks with the same answer. A letter means the words
// of its option.
func answerKey(t bundle.Task) uint64 {
	var all []string
	for _, s := range t.Target {
		if len(t.Choices) > 0 && len(s) == 1 && int(s[0]-'A') < len(t.Choices) {
			s = t.Choices[s[0]-'A']
		}
		all = append(all, optionKey(s))
	}
	slices.Sort(all)
	return hash(all...)
}

func hash(all ...string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(all, "\x00"))) // a hash takes everything
	return mix(h.Sum64())
}

// mix spreads a value over all bits: the finaliser of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func bandsOf(set []uint32) [bandCount]uint64 {
	var least [bandCount * bandRows]uint64
	for j := range least {
		least[j] = ^uint64(0)
	}
	for _, w := range set {
		for j := range least {
			least[j] = min(least[j], mix(uint64(w)+uint64(j+1)*0x9e3779b97f4a7c15))
		}
	}
	var out [bandCount]uint64
	for b := range out {
		for j := range bandRows {
			out[b] = mix(out[b] ^ least[b*bandRows+j] + uint64(b))
		}
	}
	return out
}

// common is the share of words that two sorted sets have in common.
func common(a, b []uint32) float64 {
	both, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			both, i, j = both+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if len(a)+len(b) == both {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
