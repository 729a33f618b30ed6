package distribution

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"
)

// The list of parts is CycloneDX 1.5, as far as it can be told from what the
// linker wrote into the programs: no licence is guessed.
type (
	partsList struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     partsMeta    `json:"metadata"`
		Components   []part       `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	partsMeta struct {
		Timestamp  string     `json:"timestamp"`
		Component  part       `json:"component"`
		Properties []property `json:"properties"`
	}
	part struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl,omitempty"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// parts lists the programs of an archive, the modules in each, and the
// compiler.
func parts(version string, p Platform, programs map[string]string, sums map[string][]byte, at time.Time) ([]byte, error) {
	list := partsList{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata: partsMeta{
			Timestamp:  at.UTC().Format(time.RFC3339),
			Component:  part{Type: "application", Ref: "evalrouter", Name: "evalrouter", Version: version},
			Properties: []property{{"platform", p.System + "/" + p.Machine}},
		},
	}
	modules, whole := map[string]part{}, dependency{Ref: "evalrouter"}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		info, err := buildinfo.ReadFile(programs[name])
		if err != nil {
			return nil, fmt.Errorf("read what %s is made of: %w", filepath.Base(programs[name]), err)
		}
		sum := hex.EncodeToString(sums[name])
		list.Components = append(list.Components, part{Type: "application", Ref: "program:" + name, Name: name, Version: info.Main.Version, Hashes: []hash{{"SHA-256", sum}}})
		whole.DependsOn = append(whole.DependsOn, "program:"+name)
		d := dependency{Ref: "program:" + name}
		std := part{Type: "framework", Ref: "pkg:golang/std@" + info.GoVersion, Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + info.GoVersion}
		modules[std.Ref] = std
		d.DependsOn = append(d.DependsOn, std.Ref)
		for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
			c := modulePart(m)
			modules[c.Ref] = c
			d.DependsOn = append(d.DependsOn, c.Ref)
		}
		slices.Sort(d.DependsOn)
		list.Dependencies = append(list.Dependencies, d)
	}
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		list.Components = append(list.Components, modules[ref])
	}
	list.Dependencies = append(list.Dependencies, whole)
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the list of parts: %w", err)
	}
	return append(text, '\n'), nil
}

func modulePart(m *debug.Module) part {
	if m.Replace != nil {
		m = m.Replace
	}
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	c := part{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}

func sum(text []byte) []byte {
	s := sha256.Sum256(text)
	return s[:]
}
