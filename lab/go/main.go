// Command hopwise-lab emulates a network path between a client and the servers of a replayed site,
// in network namespaces of its own.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"

	"hopwise/lab/check"
	"hopwise/lab/netns"
	"hopwise/lab/pcwnd"
	"hopwise/lab/serve"
)

const usage = `usage: hopwise-lab up --config FILE      start a lab; commands on stdin, answers on stdout
       hopwise-lab doctor                 say whether this user can start a lab here
       hopwise-lab pcwnd --config FILE    measure loss by congestion window of bulk transfers
       hopwise-lab check [flags] URL...   transfer URLs from inside the lab and report times
`

// Exit codes: 1 when the machine lacks something or a part fails, 2 for unusable input.
const (
	exitFailure = 1
	exitInput   = 2
)

// inputError marks input that cannot be used.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// Children die with the thread that started them (PR_SET_PDEATHSIG), so main keeps the first thread,
// which lives as long as the process.
func init() { runtime.LockOSThread() }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hopwise-lab:", err)
		if errors.As(err, &inputError{}) {
			os.Exit(exitInput)
		}
		os.Exit(exitFailure)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(exitInput)
	}
	switch args[0] {
	case "up":
		return up(args[1:])
	case "doctor":
		return doctor()
	case "pcwnd":
		return measurePcwnd(args[1:])
	case "check":
		return check.Run(args[1:], os.Stdout)
	case "help", "--help", "-h":
		fmt.Print(usage)
		return nil
	case commandServe:
		return child(func() error { return serve.Child(os.Stdin, os.Stdout) })
	case commandHold:
		return child(func() error { return netns.Hold(args[1], os.Stdin, os.Stdout) })
	case commandSend:
		return child(func() error { return pcwnd.SendChild(os.Stdin, os.Stdout) })
	case commandReceive:
		return child(func() error { return pcwnd.ReceiveChild(args[1], args[2], args[3], os.Stdin, os.Stdout) })
	}
	return inputError{fmt.Errorf("expected up, doctor, pcwnd or check, got %q", args[0])}
}

// child runs one of the lab's own processes. They end with their stdin instead of by a signal meant for the lab, and are killed
// when the lab ends.
func child(run func() error) error {
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	return run()
}
