package comparison

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzQuick holds the quick reader to the general one: what it reads at all, it
// reads alike.
func FuzzQuick(f *testing.F) {
	for _, s := range []string{
		`{"task_id":"t1","attempt":1,"score":0.5,"outcome":"right","cluster":"c"}`, `{"task_id":"t1","attempt":1,"score":null,"outcome":"","cluster":""}`,
		`{"task_id":"t","attempt":1,"score":-1e-3,"outcome":"x","cluster":"\u00e9"}`, `{"task_id":"t","attempt":01,"score":1,"outcome":"x","cluster":""}`,
		`{"task_id":"a","attempt":1,"task_id":"b","attempt":1,"score":1,"outcome":"x","cluster":""}`, `{"task_id":"a","attempt":1,"score":1,"score":2,"outcome":"x","cluster":""}`,
		`{"task_id":"t","attempt":1,"score":"1","outcome":"x","cluster":""}`, `{"task_id":"t","attempt":1,"score":1,"outcome":"x","cluster":"","more":"x"}`,
		`{"task_id":"t","attempt":"1","score":1,"outcome":"x","cluster":""}`, `{"task_id":"t","attempt":1,"score":1e999,"outcome":"x","cluster":""}`,
		`{"task_id":"t` + "\xff" + `","attempt":1,"score":.5,"outcome":"x","cluster":""}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, ok := quick(line)
		if !ok {
			return
		}
		var want scored
		if err := json.NewDecoder(bytes.NewReader(line)).Decode(&want); err != nil {
			t.Fatalf("%q was read as %+v; it is no JSON: %v", line, got, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-general +quick):\n%s", line, d)
		}
	})
}

func TestQuick_ReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	if _, ok := quick([]byte(`{"task_id":"t1","attempt":1,"score":0.25,"outcome":"wrong","cluster":"c9"}`)); !ok {
		t.Error("the layout of the service is not read quickly")
	}
}
