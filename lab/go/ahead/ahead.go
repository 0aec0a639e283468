// Package ahead schedules processes ahead of the machine's others without real-time scheduling, under which a long computation
// could stall the machine.
package ahead

import (
	"os"

	"golang.org/x/sys/unix"
)

// nice is the highest normal priority, and sliceNanos the shortest time slice that such a process may request: a process with a
// shorter slice is scheduled at once (Linux 6.12 and later; earlier kernels only use nice).
const (
	nice       = -20
	sliceNanos = 100_000
)

// Begin makes the processes and threads that this thread starts from now on run ahead, if the user has the right. The returned
// function ends that for the thread itself.
func Begin() (end func()) {
	set := func(nice int32, slice uint64) {
		// Without the right the thread stays unchanged.
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{
			Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: nice, Runtime: slice,
		}, 0)
	}
	set(nice, sliceNanos)
	return func() { set(0, 0) }
}

// marker is the environment variable of a program that runs ahead.
const marker = "HOPWISE_LAB_AHEAD"

// Again re-executes this program with all of its threads ahead. It returns nil in the re-executed program, or an error if that
// is impossible. It must be called on the main thread.
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
