package sob_test

import (
	"os"
	"path/filepath"
	"testing"
)

// publishedModels are the models whose answers and scores the authors published.
func publishedModels() []string {
	return []string{"DeepSeek-R1-Distill-Qwen-32B", "Qwen3-30B-A3B-Instruct-2507", "gemini-2.5-flash", "gpt-5.5", "phi-4", "zai-org-GLM-4.7"}
}

func readFile(t testing.TB, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
