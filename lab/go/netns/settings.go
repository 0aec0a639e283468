package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

const settingsFolder = "/proc/sys"

// SetSetting writes a setting of the kernel, such as net/ipv4/tcp_rmem, as the calling thread's network namespace has it. The
// thread must be locked.
//
// Containers have the settings' folder mounted read-only over itself, also where they hold all rights that it takes; there the
// setting is written below that mount.
func SetSetting(name, value string) error {
	err := write(name, value)
	if !errors.Is(err, unix.EROFS) {
		return err
	}
	return writeBelowMount(name, value)
}

func write(name, value string) error {
	return os.WriteFile(filepath.Join(settingsFolder, name), []byte(value), 0)
}

// writeBelowMount writes a setting where nothing is mounted over the folder, in a mount namespace of its own.
func writeBelowMount(name, value string) error {
	network, err := netns.Get()
	if err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	defer network.Close()
	failed := make(chan error, 1)
	go func() {
		// Never unlocked, so that the thread and its namespaces end with the goroutine.
		runtime.LockOSThread()
		failed <- func() error {
			if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
				return readOnly(err)
			}
			if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
				return readOnly(err)
			}
			if err := unix.Unmount(settingsFolder, unix.MNT_DETACH); err != nil {
				return readOnly(err)
			}
			if err := netns.Set(network); err != nil {
				return fmt.Errorf("network namespace: cannot enter it: %w", err)
			}
			return write(name, value)
		}()
	}()
	return <-failed
}

func readOnly(err error) error {
	return fmt.Errorf("%s is mounted read-only, and cannot be unmounted (%w): give the container `--cap-add SYS_ADMIN --security-opt apparmor=unconfined`, or, for a user without root, `--security-opt systempaths=unconfined`", settingsFolder, err)
}
