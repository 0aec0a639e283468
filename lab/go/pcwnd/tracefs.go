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

// tracefs is the standard mount point, which exists if the kernel has tracefs.
const tracefs = "/sys/kernel/tracing"

// instancePrefix starts the name of a trace instance; the process id ends it.
const instancePrefix = "hopwise-pcwnd-"

// ringBufferKB is the size for each processor: seconds of a fast transfer's acknowledgments.
const ringBufferKB = 8192

// Trace is a kernel trace instance with its own ring buffer, filters and switches, so that other tracing on the machine is
// unaffected. It outlives a killed process;
// the next one removes it.
type Trace struct {
	dir  string
	pipe int
	rest []byte
}

// OpenTrace starts tracing the sockets with the given local port. The process must have its own mount namespace: tracefs is
// mounted there unless it is mounted already.
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

// mountTracefs mounts tracefs in the mount namespace, which must not be shared.
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

// RemoveStaleTraces removes the instances of killed processes. It needs root, and does nothing where the kernel has no tracing.
func RemoveStaleTraces() error {
	if _, err := os.Stat(tracefs); err != nil {
		return nil
	}
	failed := make(chan error, 1)
	go func() {
		// Never unlocked, so that the thread and its mount namespace end with the goroutine.
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

// lockInstances excludes other labs, to which an instance without an open pipe looks abandoned.
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

// newInstance removes abandoned instances and makes a new one.
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

// removeStaleInstances removes instances of killed processes. Instances in use are busy, as their pipe is open.
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
			return fmt.Errorf("tracefs: %s is abandoned and cannot be removed: %w", entry.Name(), err)
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

// Stop ends the sampling; buffered events can still be read.
func (t *Trace) Stop() error {
	return errors.Join(
		t.set("events/tcp/tcp_probe/enable", "0"),
		t.set("events/tcp/tcp_cong_state_set/enable", "0"),
	)
}

// Read passes on the buffered events in order of time.
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
	// The kernel releases a file's reference shortly after its close.
	for limit := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Rmdir(t.dir)
		if err == unix.EBUSY && time.Now().Before(limit) {
			continue
		}
		// A starting lab may have removed it once its pipe was closed.
		if err != nil && err != unix.ENOENT {
			return fmt.Errorf("tracefs: %s cannot be removed: %w", filepath.Base(t.dir), err)
		}
		return nil
	}
}
