package pcwnd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tracefs is where the kernel wants it; the folder exists wherever the kernel has it.
const tracefs = "/sys/kernel/tracing"

// instancePrefix begins the name of a trace instance; the process's number ends it.
const instancePrefix = "hopwise-pcwnd-"

// ringBufferKB is for each processor: seconds of a fast transfer's acknowledgments.
const ringBufferKB = 8192

// Trace is an instance of the kernel's tracing with a ring buffer, filters and switches of its own, so
// that neither the machine's own tracing nor another lab's is touched. It outlives a killed process;
// the next one removes it.
type Trace struct {
	dir  string
	pipe int
	rest []byte
}

// OpenTrace begins to trace the sockets whose own port is the given one. The process must have a mount
// namespace of its own: tracefs is mounted there when the machine has not mounted it.
func OpenTrace(port uint16) (trace *Trace, err error) {
	instances, err := mountTracefs()
	if err != nil {
		return nil, err
	}
	if trace, err = newInstance(instances); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, trace.Close())
		}
	}()
	filter := fmt.Sprintf("sport == %d", port)
	for _, setting := range [][2]string{
		{"buffer_size_kb", strconv.Itoa(ringBufferKB)},
		{"options/context-info", "0"},
		{"events/tcp/tcp_probe/filter", filter},
		{"events/tcp/tcp_cong_state_set/filter", filter},
		{"events/tcp/tcp_cong_state_set/enable", "1"},
		{"events/tcp/tcp_probe/enable", "1"},
	} {
		if err := trace.set(setting[0], setting[1]); err != nil {
			return nil, err
		}
	}
	return trace, nil
}

// mountTracefs has tracefs in the mount namespace, which must be the process's or the thread's own.
func mountTracefs() (instances string, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", fmt.Errorf("mount namespace: cannot make it private: %w", err)
	}
	instances = filepath.Join(tracefs, "instances")
	if _, err := os.Stat(instances); err != nil {
		if err := unix.Mount("tracefs", tracefs, "tracefs", 0, ""); err != nil {
			return "", fmt.Errorf("tracefs cannot be mounted: %w", err)
		}
	}
	return instances, nil
}

// RemoveStaleTraces removes the instances of killed processes. It needs the machine's root, and does nothing where
// the kernel has no tracing.
func RemoveStaleTraces() error {
	if _, err := os.Stat(tracefs); err != nil {
		return nil
	}
	failed := make(chan error, 1)
	go func() {
		// Never unlocked: the thread ends with the goroutine, and its mount namespace with it.
		runtime.LockOSThread()
		failed <- func() error {
			if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
				return fmt.Errorf("mount namespace: %w", err)
			}
			instances, err := mountTracefs()
			if err != nil {
				return err
			}
			unlock, err := lockInstances(instances)
			if err != nil {
				return err
			}
			defer unlock()
			return removeStaleInstances(instances)
		}()
	}()
	return <-failed
}

// lockInstances keeps other labs out: until its pipe is open an instance looks as if it were left behind.
func lockInstances(instances string) (unlock func(), err error) {
	folder, err := os.Open(instances)
	if err != nil {
		return nil, fmt.Errorf("tracefs: %w", err)
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX); err != nil {
		folder.Close()
		return nil, fmt.Errorf("tracefs: cannot be locked: %w", err)
	}
	return func() { folder.Close() }, nil
}

// newInstance removes what killed processes left behind and makes an instance.
func newInstance(instances string) (*Trace, error) {
	unlock, err := lockInstances(instances)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeStaleInstances(instances); err != nil {
		return nil, err
	}
	trace := &Trace{dir: filepath.Join(instances, instancePrefix+strconv.Itoa(os.Getpid()))}
	if err := os.Mkdir(trace.dir, 0o700); err != nil {
		return nil, fmt.Errorf("tracefs: no instance can be made: %w", err)
	}
	trace.pipe, err = unix.Open(filepath.Join(trace.dir, "trace_pipe"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("tracefs: trace_pipe: %w", err), unix.Rmdir(trace.dir))
	}
	return trace, nil
}

// removeStaleInstances removes those of killed processes. One in use is busy, since its pipe is open.
func removeStaleInstances(instances string) error {
	entries, err := os.ReadDir(instances)
	if err != nil {
		return fmt.Errorf("tracefs: %w", err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), instancePrefix) {
			continue
		}
		err := unix.Rmdir(filepath.Join(instances, entry.Name()))
		if err != nil && err != unix.EBUSY && err != unix.ENOENT {
			return fmt.Errorf("tracefs: %s was left behind and cannot be removed: %w", entry.Name(), err)
		}
	}
	return nil
}

func (t *Trace) set(name, value string) error {
	file, err := os.OpenFile(filepath.Join(t.dir, name), os.O_WRONLY|os.O_TRUNC, 0)
	if err == nil {
		_, err = file.WriteString(value)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("tracefs: %s: %w", name, err)
	}
	return nil
}

// Stop ends the sampling; what is in the buffer can still be read.
func (t *Trace) Stop() error {
	return errors.Join(
		t.set("events/tcp/tcp_probe/enable", "0"),
		t.set("events/tcp/tcp_cong_state_set/enable", "0"),
	)
}

// Read hands out what is in the buffer by now, in order of time.
func (t *Trace) Read(each func(Event)) error {
	chunk := make([]byte, 64<<10)
	for {
		count, err := unix.Read(t.pipe, chunk)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN || (err == nil && count == 0):
			return nil
		case err != nil:
			return fmt.Errorf("tracefs: trace_pipe: %w", err)
		}
		t.rest = append(t.rest, chunk[:count]...)
		for {
			line, rest, whole := bytes.Cut(t.rest, []byte("\n"))
			if !whole {
				break
			}
			t.rest = rest
			event, found, err := ParseLine(line)
			if err != nil {
				return fmt.Errorf("tracefs: trace_pipe: %w", err)
			}
			if found {
				each(event)
			}
		}
	}
}

// Close removes the instance.
func (t *Trace) Close() error {
	unix.Close(t.pipe)
	// The kernel lets go of a file's reference a moment after its close.
	for limit := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Rmdir(t.dir)
		if err == unix.EBUSY && time.Now().Before(limit) {
			continue
		}
		// With its pipe closed, a lab that starts may have removed it.
		if err != nil && err != unix.ENOENT {
			return fmt.Errorf("tracefs: %s cannot be removed: %w", filepath.Base(t.dir), err)
		}
		return nil
	}
}
