package core_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

func TestRole_Scopes(t *testing.T) {
	t.Parallel()
	all := []string{"benchmarks:submit", "billing:read", "connections:read", "connections:write", "datasets:review", "eval:read", "eval:write", "keys:admin", "traces:ingest"}
	for _, tt := range []struct {
		role core.Role
		want string
	}{
		{core.RoleOwner, strings.Join(all, " ")},
		{core.RoleAdmin, strings.Join(all, " ")},
		{core.RoleMember, "benchmarks:submit billing:read connections:read connections:write eval:read eval:write"},
		{core.RoleViewer, "billing:read connections:read eval:read"},
		{"", ""},
		{"king", ""},
	} {
		t.Run("role "+string(tt.role), func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(tt.role.Scopes(all), " "); got != tt.want {
				t.Errorf("%q has %q", tt.role, got)
			}
		})
	}
}

func TestRole_Manages(t *testing.T) {
	t.Parallel()
	for _, as := range append(core.Roles(), "", "king") {
		for _, over := range core.Roles() {
			want := as == core.RoleOwner || as == core.RoleAdmin && over != core.RoleOwner
			if got := as.Manages(over); got != want {
				t.Errorf("%q manages %q: %v", as, over, got)
			}
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	in := []string{"c", "a", "x", "a"}
	if got := strings.Join(core.Within(in, []string{"a", "b", "c"}), " "); got != "a c" || strings.Join(in, " ") != "c a x a" {
		t.Errorf("Within gives %q and leaves %v", got, in)
	}
}
