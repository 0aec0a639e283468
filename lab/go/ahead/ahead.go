// Package ahead has processes run before the machine's others without the power to stop it, which
// real-time scheduling would give to one that computes for long.
package ahead

import (
	"os"

	"golang.org/x/sys/unix"
)

// nice is the highest of the normal priorities, and sliceNanos the shortest time for which such a process asks: who
// wants less of a processor gets it at once (Linux 6.12 and later; earlier ones go by nice alone).
const (
	nice       = -20
	sliceNanos = 100_000
)

// Begin has what this thread starts from now on, processes and threads, run ahead, where the rights for that are
// there. What it returns ends that for the thread itself.
func Begin() (end func()) {
	set := func(nice int32, slice uint64) {
		// Without the rights the thread stays as it was.
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{
			Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: nice, Runtime: slice,
		}, 0)
	}
	set(nice, sliceNanos)
	return func() { set(0, 0) }
}

// marker is in the environment of a program that runs ahead.
const marker = "HOPWISE_LAB_AHEAD"

// Again runs this program in its own place with all of its threads ahead. It returns in that program,
// or with the reason why it cannot be run. It must be called on the main thread.
func Again() error {
	if os.Getenv(marker) != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	Begin()
	return unix.Exec(self, os.Args, append(os.Environ(), marker+"=1"))
}
