// Package pack is the format in which a benchmark travels: a folder, or a zip
// file of it, that holds tasks, the declaration of how they are asked and
// graded, and the papers that say who may use them.
//
//	evalrouter.json   the manifest: names, licence, prompt, grader, limits,
//	                  and the size and SHA-256 of every other file
//	tasks.jsonl       one task a line: id, input, target
//	fixtures.jsonl    answers and how each must be graded
//	RIGHTS.txt        who owns the tasks and what is allowed
//	README.md         what the benchmark measures
//
// Decisions:
//
//   - Validate is the normative validator. The authoring tool and the service
//     run the same code, the service again on every submission. The published
//     JSON Schemas are generated from the same types and tables and say what a
//     schema can say; where they are silent, Validate decides.
//   - A package is data. Nothing in it is imported or executed; its patterns
//     are RE2. There is no role for code.
//   - It is read through fs.FS and never unpacked. Validate needs the memory
//     of one line and of the task ids.
//   - Every finding has the id of a rule, the file, the line and a remedy, and
//     carries no text of the tasks.
//   - The manifest pins every component, so the SHA-256 of evalrouter.json
//     identifies the whole package, and a package has no digest of its own to
//     keep in step.
//   - A bundle stores its files without compression, in one order, with one
//     date and mode. Its bytes then depend on the files alone, and on no
//     compressor, which may write other bytes in its next release.
package pack

// Names and schemas of the format.
const (
	Schema         = "evalrouter.package.v1"
	TasksSchema    = "evalrouter.tasks.v1"
	FixturesSchema = "evalrouter.fixtures.v1"

	ManifestFile = "evalrouter.json"
	TasksFile    = "tasks.jsonl"
	FixturesFile = "fixtures.jsonl"
	RightsFile   = "RIGHTS.txt"
	ReadmeFile   = "README.md"

	// NotGranted is the licence of a package whose owner has granted none.
	NotGranted = "LicenseRef-NotGranted"
)

// Limits of a package.
const (
	MaxManifestBytes = 256 << 10
	MaxPaperBytes    = 1 << 20   // RIGHTS.txt, README.md and other papers, each
	MaxPackageBytes  = 100 << 20 // all files together, and a bundle
	MaxTasks         = 100_000
	MaxFixtures      = 100_000
	MaxComponents    = 64
	MaxFindings      = 100
)
