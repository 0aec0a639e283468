package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// memoryLimit is the memory at which garbage is collected after all; the pump uses far less.
const memoryLimit = 1 << 30

// fifoPriority is above normal processes and below the kernel's own real-time threads.
const fifoPriority = 20

// becomeRealTime keeps other processes and the collector from delaying packets: every thread of the
// process runs under SCHED_FIFO (a thread that waits inside the Go runtime for one of lower priority would be as late as that
// one), with spare Go processors so that a thread returning from a system call gets one at once. It returns the scheduling in
// force. Processes started later inherit it.
func becomeRealTime() (scheduling string, err error) {
	runtime.GOMAXPROCS(8)
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(-1)
	if setFIFO(0) != nil {
		return "normal", nil
	}
	// A thread started meanwhile inherits the scheduling or is found in the next round.
	for done := map[int]bool{}; ; {
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return "", fmt.Errorf("real-time scheduling: %w", err)
		}
		found := false
		for _, entry := range entries {
			thread, err := strconv.Atoi(entry.Name())
			if err != nil || done[thread] {
				continue
			}
			if err := setFIFO(thread); err != nil && err != unix.ESRCH {
				return "", fmt.Errorf("real-time scheduling: %w", err)
			}
			done[thread], found = true, true
		}
		if !found {
			return "fifo", nil
		}
	}
}

func setFIFO(thread int) error {
	return unix.SchedSetAttr(thread, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: fifoPriority}, 0)
}

// prepareThread makes the timers of a thread without real-time scheduling exact.
func prepareThread() {
	// Optional: without it timers are up to 50 µs late.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}
