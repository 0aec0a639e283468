package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"hopwise/lab/ahead"
	"hopwise/lab/netns"
	"hopwise/lab/serve"
)

// Names of the subcommands that the lab's own processes run.
const (
	commandServe = "_serve"
	commandHold  = "_hold"
)

// process is one of the lab's own processes.
type process struct {
	name    string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	exited  chan struct{}
}

// spawn starts this program again in a network namespace. It must be called on the main thread.
func spawn(namespace *netns.Namespace, cloneFlags uintptr, name string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(self, args...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: cloneFlags, Pdeathsig: unix.SIGKILL}
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := namespace.Do(command.Start); err != nil {
		return nil, fmt.Errorf("%s: cannot be started: %w%s", name, err, netns.RestrictedHint())
	}
	child := &process{name: name, command: command, in: in, out: bufio.NewReader(out), exited: make(chan struct{})}
	go func() {
		// Wait would close the pipe before its last line is read.
		_, _ = command.Process.Wait()
		close(child.exited)
	}()
	return child, nil
}

func (p *process) pid() int { return p.command.Process.Pid }

// stop ends the process at once.
func (p *process) stop() {
	if p == nil {
		return
	}
	_ = p.in.Close()
	// It fails only when the process has already ended.
	_ = p.command.Process.Kill()
	<-p.exited
}

func (p *process) line() (string, error) {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: ended unexpectedly", p.name)
	}
	return strings.TrimSpace(line), nil
}

// startHolder starts the process that keeps the client's namespaces.
func startHolder(client *netns.Namespace, dir string) (*process, error) {
	holder, err := spawn(client, unix.CLONE_NEWNS, "namespace holder", commandHold, dir)
	if err != nil {
		return nil, err
	}
	if _, err := holder.line(); err != nil {
		holder.stop()
		return nil, err
	}
	return holder, nil
}

func startServer(server *netns.Namespace, config serve.Config, aheadOfOthers bool) (*process, error) {
	if aheadOfOthers {
		defer ahead.Begin()()
	}
	child, err := spawn(server, 0, "replay server", commandServe)
	if err != nil {
		return nil, err
	}
	if _, err := ask(child, serve.Request{Start: &config}); err != nil {
		child.stop()
		return nil, err
	}
	return child, nil
}

// ask sends the replay server a request and waits for its reply.
func ask(server *process, request serve.Request) (serve.Reply, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return serve.Reply{}, err
	}
	if _, err := server.in.Write(append(text, '\n')); err != nil {
		return serve.Reply{}, fmt.Errorf("%s: ended unexpectedly", server.name)
	}
	line, err := server.line()
	if err != nil {
		return serve.Reply{}, err
	}
	var reply serve.Reply
	if err := json.Unmarshal([]byte(line), &reply); err != nil {
		return serve.Reply{}, fmt.Errorf("%s: unreadable reply: %w", server.name, err)
	}
	if reply.Error != "" {
		return serve.Reply{}, inputError{fmt.Errorf("%s", reply.Error)}
	}
	return reply, nil
}
