package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// memoryLimit is where garbage is collected after all; the pump's own memory is far below.
const memoryLimit = 1 << 30

// fifoPriority is above normal processes and below the kernel's own real-time threads.
const fifoPriority = 20

// becomeRealTime keeps other processes and the collector from delaying packets: every thread of the
// process runs under SCHED_FIFO (one that waits for a lower one inside the Go runtime would be as
// late as that one), with processors to spare so that a thread back from a system call finds one at
// once. It returns the scheduling in force. Processes started later would inherit it.
func becomeRealTime() (scheduling string, err error) {
	runtime.GOMAXPROCS(8)
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(-1)
	if setFIFO(0) != nil {
		return "normal", nil
	}
	// A thread that starts meanwhile inherits from one that is done or is found in the next round.
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

// prepareThread makes the thread's timers exact where it is not real-time, whose timers are anyhow.
func prepareThread() {
	// The slack is a hint: refused, timers are 50 µs later.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}
