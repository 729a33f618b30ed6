package plain

import "strings"

// ArgumentRefused is what a program says to whom Credential caught.
const ArgumentRefused = "an argument looks like a key or token. Others on this machine can read arguments, and the shell's history keeps them: end that key, and give the next one by a file, a variable or stdin. Nothing was done"

// KeyBeginnings are how keys of this service and of well-known providers begin.
func KeyBeginnings() []string {
	return []string{"sk-", "sk_", "pk-", "erk_", "ers_", "eri_", "hf_", "gsk_", "xai-", "ghp_", "lsv2_", "AIza"}
}

// Credential says that one of a program's arguments, or the value of a flag among
// them, is a credential as this service or a well-known provider makes them. A text
// that merely mentions one is none.
func Credential(args []string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			_, a, _ = strings.Cut(a, "=")
		}
		if credential(a) {
			return true
		}
	}
	return false
}

// credential knows a beginning that nothing else has, and behind it a word of at
// least 16 letters and digits of both kinds.
func credential(s string) bool {
	for _, begin := range KeyBeginnings() {
		if rest, ok := strings.CutPrefix(s, begin); ok {
			longest, letters, digits := 0, 0, 0
			for _, r := range rest {
				switch {
				case '0' <= r && r <= '9':
					digits++
				case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
					letters++
				case r == '-' || r == '_':
					letters, digits = 0, 0
				default:
					return false
				}
				if letters > 0 && digits > 0 {
					longest = max(longest, letters+digits)
				}
			}
			return longest >= 16
		}
	}
	return false
}
