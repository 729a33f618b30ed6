package profile

import (
	"path/filepath"
	"runtime"
	"strings"
)

// DirsOf are the directories on this system.
func DirsOf(env func(string) (string, bool), home string) Dirs {
	return DirsOn(runtime.GOOS, env, home)
}

// DirsOn follows the XDG rules, with our own variables in front; on Windows the
// folders are below %LOCALAPPDATA%. A directory that has no absolute place has
// the value "".
func DirsOn(system string, env func(string) (string, bool), home string) Dirs {
	p := places{windows: system == "windows", env: env, home: home}
	return Dirs{
		State:  p.pick("state-dir", EnvStateDir, "XDG_STATE_HOME", "state", ".local", "state", "evalrouter"),
		Cache:  p.pick("cache-dir", EnvCacheDir, "XDG_CACHE_HOME", "cache", ".cache", "evalrouter"),
		Config: p.pick("config-dir", "", "XDG_CONFIG_HOME", "config", ".config", "evalrouter"),
		Data:   p.pick("data-dir", "", "XDG_DATA_HOME", "data", ".local", "share", "evalrouter"),
	}
}

// places finds directories by the rules of one system, which need not be that
// of this process.
type places struct {
	windows bool
	env     func(string) (string, bool)
	home    string
}

func (p places) pick(name, own, xdg, local string, rest ...string) Setting {
	if v, _ := p.env(own); own != "" && v != "" {
		return Setting{Name: name, Value: v, From: own}
	}
	if v, _ := p.env(xdg); p.absolute(v) {
		return Setting{Name: name, Value: p.join(v, "evalrouter"), From: xdg}
	}
	if v, _ := p.env(envLocalAppData); p.windows && p.absolute(v) {
		return Setting{Name: name, Value: p.join(v, "evalrouter", local), From: envLocalAppData}
	}
	if !p.absolute(p.home) {
		return Setting{Name: name, From: FromDefault}
	}
	if p.windows {
		rest = []string{"AppData", "Local", "evalrouter", local}
	}
	return Setting{Name: name, Value: p.join(append([]string{p.home}, rest...)...), From: FromDefault}
}

const envLocalAppData = "LOCALAPPDATA"

func (p places) join(parts ...string) string {
	if !p.windows {
		return filepath.Join(parts...)
	}
	parts[0] = strings.TrimRight(parts[0], `\\/`)
	return strings.Join(parts, `\`)
}

// absolute says that a path starts at a root: on Windows at a drive's or a
// share's.
func (p places) absolute(path string) bool {
	if !p.windows {
		return strings.HasPrefix(path, "/")
	}
	drive := len(path) >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && strings.Trim(path[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	return drive || strings.HasPrefix(path, `\\`)
}
