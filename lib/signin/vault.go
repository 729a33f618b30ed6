package signin

// Vault keeps the credentials of all sign-ins as one text.
type Vault interface {
	// Name says where they are, for people: "the file …" or "the keychain".
	Name() string
	// Load answers nil when nothing is kept.
	Load() ([]byte, error)
	// Save replaces what is kept; nil removes it.
	Save(data []byte) error
}

// Names of the files.
const (
	profileFile     = "profile.json"
	credentialsFile = "credentials.json"
	lockFile        = "credentials.lock"
)

// File keeps credentials in a private file of a directory.
type File struct{ Dir string }

var _ Vault = File{}

// Name is the file's path.
func (f File) Name() string { return "the file " + joined(f.Dir, credentialsFile) }

// Load reads the file.
func (f File) Load() ([]byte, error) { return folder(f.Dir).read(credentialsFile) }

// Save replaces the file.
func (f File) Save(data []byte) error {
	if data == nil {
		return folder(f.Dir).remove(credentialsFile)
	}
	return folder(f.Dir).write(credentialsFile, data)
}
