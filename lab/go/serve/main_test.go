package serve

import (
	"testing"

	"hopwise/lab/netns/netnstest"
)

func TestMain(tests *testing.M) { netnstest.Main(tests) }
