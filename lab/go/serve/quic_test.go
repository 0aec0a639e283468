package serve

import (
	"os"
	"regexp"
	"testing"
)

// The values come from the stack's sources and must be checked for every new version.
func TestQUICFactsAreOfTheVersionInUse(t *testing.T) {
	module, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`github\.com/quic-go/quic-go v(\S+)`).FindSubmatch(module)
	if version == nil || QUIC.Stack != "quic-go "+string(version[1]) {
		t.Errorf("the facts are of %s, go.mod has %s", QUIC.Stack, version)
	}
}
