package changes_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/changes"
)

func TestFollowers(t *testing.T) {
	t.Parallel()
	f := changes.NewFollowers(2)
	leave, ok := f.Follow("w1")
	if _, second := f.Follow("w1"); !ok || !second {
		t.Fatal("two may not wait")
	}
	if _, ok := f.Follow("w1"); ok {
		t.Error("a third waits")
	}
	if _, ok := f.Follow("w2"); !ok {
		t.Error("another workspace has no place")
	}
	leave()
	leave() // once more changes nothing
	if _, ok := f.Follow("w1"); !ok {
		t.Error("the place of who left is not free")
	}
	if _, ok := f.Follow("w1"); ok {
		t.Error("a place was given back twice")
	}
	every := changes.NewFollowers(0)
	for range 100 {
		if _, ok := every.Follow("w1"); !ok {
			t.Fatal("where there is no bound somebody is refused")
		}
	}
}
