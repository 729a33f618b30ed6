package manual

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// Shells are the shells that completion knows.
func Shells() []string { return []string{"zsh", "bash", "fish", "powershell"} }

// Asker is the hidden command that a full completion asks.
const Asker = "complete-words"

// Completion is the script of a shell. The usual one names commands and starts
// no program at all; the full one asks this program, which asks nobody.
func Completion(root *argv.Command, shell string, full bool) string {
	var names, lines []string
	for _, c := range root.Sub {
		if !c.Hidden {
			names = append(names, c.Name)
			lines = append(lines, fmt.Sprintf("complete -c evalrouter -f -n '__evalrouter_first' -a '%s' -d '%s'", c.Name, strings.ReplaceAll(c.Short, "'", `\'`)))
		}
	}
	list := strings.Join(names, " ")
	switch shell {
	case "bash":
		return bash(list, full)
	case "zsh":
		return zsh(list, full)
	case "powershell":
		return powershell(names, full)
	}
	return fish(strings.Join(lines, "\n"), full)
}

// bash works with 3.2 and with "set -u".
func bash(names string, full bool) string {
	body := `  if [ "${COMP_CWORD-0}" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "` + names + `" -- "$cur") )
  fi`
	if full {
		body = `  local IFS=$'\n'
  COMPREPLY=( $(evalrouter ` + Asker + ` "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) )`
	}
	return `# Completion of evalrouter for bash. In ~/.bashrc:
#   eval "$(evalrouter completion bash)"
_evalrouter() {
  local cur="${COMP_WORDS[COMP_CWORD]-}"
  COMPREPLY=()
` + body + `
}
complete -o default -F _evalrouter evalrouter
`
}

// zsh works where it is evaluated behind compinit, and as a file _evalrouter of
// $fpath, which zsh itself runs in place of the function of that name.
func zsh(names string, full bool) string {
	body := `  if (( CURRENT == 2 )); then
    compadd -- ` + names + `
  else
    _default
  fi`
	if full {
		body = `  local -a found
  found=( "${(@f)$(evalrouter ` + Asker + ` "${(@)words[2,CURRENT]}" 2>/dev/null)}" )
  if [[ -n "${found[1]-}" ]]; then
    compadd -- "${found[@]}"
  else
    _default
  fi`
	}
	return `#compdef evalrouter
# Completion of evalrouter for zsh. In ~/.zshrc, behind compinit:
#   eval "$(evalrouter completion zsh)"
_evalrouter() {
` + body + `
}
if [[ "${funcstack[1]-}" == _evalrouter ]]; then
  _evalrouter "$@"
elif (( ${+functions[compdef]} )); then
  compdef _evalrouter evalrouter
else
  print -u2 'evalrouter: put this line behind "autoload -Uz compinit && compinit" in ~/.zshrc'
fi
`
}

func fish(lines string, full bool) string {
	if full {
		lines = `complete -c evalrouter -f -a '(evalrouter ` + Asker + ` (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`
	}
	return `# Completion of evalrouter for fish. In ~/.config/fish/config.fish:
#   evalrouter completion fish | source
function __evalrouter_first
  test (count (commandline -opc)) -eq 1
end
` + lines + "\n"
}

// powershell works with 7.3 and later, and without --full with 5.1 too.
func powershell(names []string, full bool) string {
	body := `  if ($words.Count -ne 1) { return }
  '` + strings.Join(names, "', '") + `' |
    Where-Object { $_.StartsWith($word) } |`
	if full {
		body = `  & evalrouter ` + Asker + ` @words 2>$null |`
	}
	return `# Completion of evalrouter for PowerShell. In $PROFILE:
#   evalrouter completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName evalrouter -ScriptBlock {
  param($word, $line, $cursor)
  $words = @($line.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
` + body + `
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`
}
