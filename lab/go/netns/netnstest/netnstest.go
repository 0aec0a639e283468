// Package netnstest gives tests the rights that the lab gives itself.
package netnstest

import (
	"fmt"
	"os"
	"testing"

	"github.com/vishvananda/netlink"

	"hopwise/lab/netns"
)

// Main runs a package's tests, for users other than root as root of a user namespace with a network of its own: the kernel may
// refuse others a congestion control. Call it from TestMain; it does not return.
func Main(tests *testing.M) {
	if os.Geteuid() != 0 {
		code, err := netns.Rootless()
		if err == nil {
			os.Exit(code)
		}
		fmt.Fprintln(os.Stderr, "the tests run without the rights of root:", err)
	} else if netns.IsRootless() {
		if err := bringLoopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(tests.Run())
}

func bringLoopbackUp() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}
