// Package packtest is packages for tests: good ones of every template, and
// every way in which one can be broken, with the rule that must find it.
//
// The tests of the validator, of the command and of the published schemas read
// the same table, so that none of them knows a case that another does not.
package packtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/evalrouter/evalrouter/bundle/pack"
)

// Package is the files of a package by their paths. A nil value is a link.
type Package map[string][]byte

// Good is a package in which nothing is wrong, not even for lint.
func Good(template string) Package {
	p := Package{
		pack.RightsFile: []byte("These tasks were written for this test and are in the public domain (CC0-1.0).\n"),
		pack.ReadmeFile: []byte("# Good\n\nA package in which nothing is wrong.\n"),
	}
	m := pack.Manifest{
		Schema: pack.Schema, Namespace: "acme", Name: "good-" + template, Version: "1.2.0",
		Title: "Good", Description: "Nothing is wrong here.", License: pack.License{Data: "CC0-1.0", Code: "MIT OR Apache-2.0"},
		References: []string{"https://example.org/paper"}, Template: template,
		Limits: pack.Limits{MaxOutputTokens: 256}, Metrics: []string{"accuracy"},
		Components: []pack.Component{
			{Path: pack.TasksFile, Role: pack.RoleDataset, Schema: pack.TasksSchema},
			{Path: pack.FixturesFile, Role: pack.RoleFixtures, Schema: pack.FixturesSchema},
			{Path: pack.RightsFile, Role: pack.RoleLicense},
			{Path: pack.ReadmeFile, Role: pack.RoleDocumentation},
		},
	}
	const marked = `{"answer_pattern":"(?m)^ANSWER:(.*)$","ignore_case":true}`
	const line = "\n\nEnd with a line ANSWER: and the answer."
	switch template {
	case pack.TemplateText:
		m.Prompt = &pack.Prompt{System: "You answer questions.", Template: "{{input}}" + line}
		m.Grader = pack.Grader{Kind: "exact_match", Options: json.RawMessage(marked)}
	case pack.TemplateChoice:
		m.Prompt = &pack.Prompt{System: "You answer questions.", Template: "{{input}}\n\n{{choices}}\n\nEnd with a line Answer: and a letter."}
		m.Grader = pack.Grader{Kind: "multiple_choice"}
	case pack.TemplateNumeric:
		m.Prompt = &pack.Prompt{System: "You answer questions.", Template: "{{input}}\n\nEnd with the number."}
		m.Grader = pack.Grader{Kind: "numeric", Options: json.RawMessage(`{"tolerance":"0.01"}`)}
	case pack.TemplateJSON:
		m.Prompt = &pack.Prompt{System: "You answer questions.", Template: "{{input}}\n\nAnswer with a JSON object."}
		m.Grader = pack.Grader{Kind: "json_field_match", Options: json.RawMessage(`{"ignore_case":true}`)}
	case pack.TemplateConversation:
		m.Prompt = &pack.Prompt{System: "You answer questions." + line}
		m.Grader = pack.Grader{Kind: "exact_match", Options: json.RawMessage(marked)}
	}
	p[pack.TasksFile] = goodTasks(template)
	p[pack.FixturesFile] = goodFixtures(template)
	p[pack.ManifestFile] = m.Write()
	p.Seal()
	return p
}

// goodCount is enough tasks for lint.
const goodCount = 32

// Things whose names are no word of any question.
var things = [goodCount]string{
	"lamp", "river", "candle", "anchor", "violin", "pepper", "ladder", "mirror", "saddle", "pillow", "magnet", "helmet", "basket", "hammer", "trumpet", "carpet",
	"kettle", "wallet", "rocket", "button", "curtain", "feather", "pencil", "shovel", "thimble", "umbrella", "whistle", "zipper", "compass", "blanket", "bucket", "needle",
}

// clue describes thing i without naming it; every clue has its own words.
func clue(i int) string {
	return [goodCount]string{
		"It gives light on a desk.", "Water runs along it to the sea.", "Wax burns down on its wick.", "A ship drops this to stay.",
		"Four strings and a bow play it.", "It makes soup hot and people sneeze.", "Rungs lead up to a roof.", "Your own face looks back from there.",
		"Riders sit between it and themselves.", "Heads rest here overnight.", "Iron filings fly towards one.", "Cyclists protect their skulls so.",
		"Woven willow carries bread.", "Nails fear this tool.", "A brass band needs many of them.", "Guests wipe shoes before stepping there.",
		"It sings when tea is near.", "Banknotes and cards live inside.", "Countdown ends and flames lift off.", "Shirts close with several.",
		"Theatres raise a heavy red one.", "Birds lose some each autumn.", "Wood and graphite write together.", "Snowy driveways call for it.",
		"Tailors cap a finger using metal.", "Rain makes everybody open theirs.", "Referees blow hard through that.", "Jackets run teeth along a track.",
		"Hikers turn until north agrees.", "Cold evenings, sofa, wool around knees.", "Wells and cows both fill a pail like this.", "Thread passes through an eye so small.",
	}[i]
}

func goodTasks(template string) []byte {
	var lines []string
	for i := range goodCount {
		t := map[string]any{"id": fmt.Sprintf("g%02d", i), "input": clue(i) + " What is it?", "target": things[i], "group": fmt.Sprintf("set-%d", i/4)}
		switch template {
		case pack.TemplateChoice:
			letter := (i*7 + i/4) % 4
			choices := make([]string, 4)
			for j := range choices {
				choices[j] = things[(i+(j-letter)*5+4*goodCount)%goodCount]
			}
			t["choices"], t["target"] = choices, string(rune('A'+letter))
		case pack.TemplateNumeric:
			t["input"] = fmt.Sprintf("%s Somebody buys %d of them for %d coins each. How many coins is that?", clue(i), i+3, 2*i+7)
			t["target"] = (i + 3) * (2*i + 7)
		case pack.TemplateJSON:
			t["input"] = fmt.Sprintf("%s Somebody ordered %d of them. Name thing and count.", clue(i), i+2)
			t["target"] = map[string]any{"thing": things[i], "count": i + 2}
		case pack.TemplateConversation:
			t["input"] = []pack.Turn{
				{Role: "user", Text: "Let us play a guessing game."}, {Role: "assistant", Text: "Give me a clue."}, {Role: "user", Text: clue(i)},
			}
		}
		lines = append(lines, line(t))
	}
	return []byte(strings.Join(lines, ""))
}

func line(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("packtest: " + err.Error())
	}
	return string(b) + "\n"
}

func fixture(task int, output, expect, finish string) string {
	f := pack.FixtureLine{Task: fmt.Sprintf("g%02d", task), Output: output, Expect: expect, Finish: finish}
	return line(f)
}

func goodFixtures(template string) []byte {
	all := map[string][]string{
		pack.TemplateText: {
			fixture(0, "ANSWER: sun\nANSWER: Lamp", "right", ""), fixture(1, "It is no river.\nANSWER: lamp", "wrong", ""), fixture(2, "Something with wax.", "extraction_failed", ""),
			fixture(3, "ANSWER: anchor", "right", "length"),
		},
		pack.TemplateChoice: {
			fixture(0, "Answer: B\nAnswer: A", "right", ""), fixture(1, "D would be tempting.\nAnswer: A", "wrong", ""), fixture(2, "None of them convinces me.", "extraction_failed", ""),
			fixture(1, "Answer: D", "right", "length"), fixture(0, "Answer: E", "extraction_failed", "stop"),
		},
		pack.TemplateNumeric: {
			fixture(0, "3 times 7 makes 21.", "right", ""), fixture(0, "21.02", "wrong", ""), fixture(0, "21.005", "right", ""), fixture(1, "37", "wrong", ""),
			fixture(2, "Quite a few.", "extraction_failed", ""), fixture(3, "6 times 13 is 78", "right", "length"),
		},
		pack.TemplateJSON: {
			fixture(0, `{"thing":"LAMP","count":2}`, "right", ""), fixture(1, `{"thing":"river","count":2}`, "wrong", ""), fixture(1, `Not {"count":3,"thing":"river"} but {"thing":"lake","count":3}`, "wrong", ""), fixture(2, "Four candles.", "extraction_failed", ""),
			fixture(1, `{"thing":"river","count":3,"note":"wet"}`, "wrong", ""), fixture(3, `{"thing":"anchor","count":5}`, "right", "length"),
		},
		pack.TemplateConversation: {
			fixture(0, "ANSWER: sun\nANSWER: Lamp", "right", ""), fixture(1, "It is no river.\nANSWER: lamp", "wrong", ""), fixture(2, "Something with wax.", "extraction_failed", ""),
			fixture(3, "ANSWER: anchor", "right", "length"),
		},
	}[template]
	all = append(all, fixture(4, "Let me think about", "truncated", "length"), fixture(5, "", "empty", ""))
	return []byte(strings.Join(all, ""))
}

// Seal makes the manifest say what the files are, in whatever state the rest
// of it is. A manifest that is no JSON object with components stays.
func (p Package) Seal() {
	var m map[string]any
	if json.Unmarshal(p[pack.ManifestFile], &m) != nil {
		return
	}
	list, _ := m["components"].([]any) // a mutation may have made it anything
	for _, c := range list {
		if c, ok := c.(map[string]any); ok {
			path, _ := c["path"].(string)
			data, ok := p[path]
			if !ok {
				continue
			}
			sum := sha256.Sum256(data)
			c["sha256"], c["bytes"] = hex.EncodeToString(sum[:]), len(data)
		}
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic("packtest: " + err.Error())
	}
	p[pack.ManifestFile] = b
}

// Clone is a copy that can be changed.
func (p Package) Clone() Package { return maps.Clone(p) }

// FS is the package as a file system.
func (p Package) FS() fstest.MapFS {
	out := fstest.MapFS{}
	for path, data := range p {
		out[path] = &fstest.MapFile{Data: data, Mode: 0o644}
		if data == nil {
			out[path].Mode = linkMode
		}
	}
	return out
}

// Write writes the package into a folder, which it makes.
func (p Package) Write(dir string) error {
	for path, data := range p {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		var err error
		if data == nil {
			err = os.Symlink("elsewhere", file)
		} else {
			err = os.WriteFile(file, data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
