package packtest

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pack"
)

// componentCases breaks the list of components.
func componentCases() []Broken {
	var all []Broken
	add := func(name, rule string, change func(p Package)) {
		p := Good(pack.TemplateText)
		change(p)
		all = append(all, Broken{Name: "components: " + name, Rule: rule, Files: p})
	}
	paths := []string{pack.TasksFile, pack.FixturesFile, pack.RightsFile, pack.ReadmeFile}
	for i, path := range paths {
		add("none for "+path, "component_role_missing", func(p Package) {
			edit(p, "components", func(old any) any { return slices.Delete(old.([]any), i, i+1) })
			delete(p, path)
		})
		add("no file "+path, "component_missing", func(p Package) { delete(p, path) })
		add("a link for "+path, "file_not_regular", func(p Package) { p[path] = nil })
		add("one byte more in "+path, "component_size", func(p Package) { p[path] = append([]byte(" "), p[path]...) })
		add("another byte in "+path, "component_digest", func(p Package) {
			p[path] = []byte(strings.Replace(string(p[path]), "e", "a", 1))
			if path == pack.TasksFile || path == pack.FixturesFile { // keep the line good
				p[path] = []byte(strings.Replace(string(Good(pack.TemplateText)[path]), "wa", "we", 1))
			}
		})
		add("another digest of "+path, "component_digest", func(p Package) {
			edit(p, "components."+string(rune('0'+i))+".sha256", always(strings.Repeat("0", 64)))
		})
	}
	for i, role := range []string{pack.RoleDataset, pack.RoleFixtures, pack.RoleLicense} {
		add("twice "+role, "component_role_repeated", func(p Package) {
			edit(p, "components", func(old any) any {
				list := old.([]any)
				more := map[string]any{"path": "more.txt", "role": role, "sha256": "", "bytes": 0}
				if s, ok := list[i].(map[string]any)["schema"]; ok {
					more["schema"] = s
				}
				return append(list, more)
			})
			p["more.txt"] = p[paths[i]]
			p.Seal()
		})
	}
	readme := func(path string) func(Package) {
		return func(p Package) {
			edit(p, "components", func(old any) any {
				return append(old.([]any), map[string]any{"path": path, "role": pack.RoleDocumentation, "sha256": "", "bytes": 0})
			})
			p[path] = []byte("More.\n")
			p.Seal()
		}
	}
	add("a path twice", "component_path_repeated", func(p Package) {
		edit(p, "components", func(old any) any { return append(old.([]any), old.([]any)[3]) })
	})
	add("a path twice in two cases", "component_path_repeated", readme("readme.MD"))
	add("a file inside a file", "component_path_repeated", readme("README.md/more.md"))
	for _, path := range []string{"CON", "nul.txt", "docs/aux.md", "com1.md", "LPT9", "evalrouter.json", "EvalRouter.JSON"} {
		add("the path "+path, "component_path_reserved", func(p Package) {
			keep := p[pack.ManifestFile]
			readme(path)(p)
			if strings.EqualFold(path, pack.ManifestFile) {
				p[pack.ManifestFile] = keep
				edit(p, "components", func(old any) any {
					return append(old.([]any), map[string]any{"path": path, "role": pack.RoleDocumentation, "sha256": strings.Repeat("0", 64), "bytes": 0})
				})
			}
		})
	}
	for i, schema := range []any{pack.FixturesSchema, pack.TasksSchema, pack.TasksSchema, pack.FixturesSchema} {
		add("the wrong schema for "+paths[i], "component_schema", func(p Package) { edit(p, "components."+string(rune('0'+i))+".schema", always(schema)) })
	}
	for i := range 2 {
		add("no schema for "+paths[i], "component_schema", func(p Package) { edit(p, "components."+string(rune('0'+i))+".schema", nil) })
	}
	return all
}

// fileCases breaks the folder and the papers.
func fileCases() []Broken {
	var all []Broken
	add := func(name, rule string, seal bool, change func(p Package)) {
		p := Good(pack.TemplateText)
		change(p)
		if seal {
			p.Seal()
		}
		all = append(all, Broken{Name: "files: " + name, Rule: rule, Files: p})
	}
	add("no manifest", "manifest_missing", false, func(p Package) { delete(p, pack.ManifestFile) })
	add("a link for a manifest", "file_not_regular", false, func(p Package) { p[pack.ManifestFile] = nil })
	for _, path := range []string{"evaluation.py", "data/more.jsonl", "dependencies.lock", "Makefile"} {
		add("unlisted "+path, "file_unlisted", false, func(p Package) { p[path] = []byte("x") })
	}
	add("an unlisted link", "file_unlisted", false, func(p Package) { p["shadow"] = nil })
	for _, path := range []string{pack.RightsFile, pack.ReadmeFile} {
		for name, text := range map[string]string{"empty": "", "white": " \n\t\u00a0\n"} {
			add(name+" "+path, "paper_blank", true, func(p Package) { p[path] = []byte(text) })
		}
		for name, text := range map[string]string{"Latin-1": "caf\xe9", "UTF-16": "\xff\xfea\x00", "escapes": "\x1b[31mred", "a NUL": "a\x00b", "C1 controls": "a\u009bb"} {
			add(name+" in "+path, "paper_encoding", true, func(p Package) { p[path] = []byte(text) })
		}
		add("long "+path, "paper_too_large", true, func(p Package) { p[path] = []byte(strings.Repeat("word ", pack.MaxPaperBytes/5+1)) })
	}
	slices.SortFunc(all, func(a, b Broken) int { return strings.Compare(a.Name, b.Name) })
	return all
}
