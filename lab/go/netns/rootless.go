package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// CheckTUN returns a one-line error when TUN devices cannot be made.
func CheckTUN() error {
	file, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	switch {
	case err == nil:
		return file.Close()
	case errors.Is(err, os.ErrNotExist):
		return errors.New("/dev/net/tun does not exist: load the tun module (`sudo modprobe tun`), or give the container the device (`--device /dev/net/tun`)")
	case errors.Is(err, os.ErrPermission):
		return errors.New("/dev/net/tun cannot be opened by this user: allow it (`sudo chmod 666 /dev/net/tun`, Debian's own default), or run as root")
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return errors.New("/dev/net/tun has no driver: load the tun module (`sudo modprobe tun`)")
	}
	return fmt.Errorf("/dev/net/tun cannot be opened: %w", err)
}

// Rootless runs this program again, as root of a new user namespace that maps only this user, and returns its exit code.
func Rootless() (exitCode int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	child := exec.Command(self, os.Args[1:]...)
	child.Env = append(os.Environ(), rootlessVariable+"=1")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{
		// Includes a network namespace, since root of a user namespace cannot re-enter the machine's.
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	if err := child.Start(); err != nil {
		return 0, fmt.Errorf("no user namespace can be made (%w): %s, or run as root", err, namespaceRemedy())
	}
	go func() {
		for received := range signals {
			// It fails only when the child has ended, which Wait reports.
			_ = child.Process.Signal(received)
		}
	}()
	err = child.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	return 0, err
}

// rootlessVariable marks a program that Rootless runs. The map of user ids cannot: in a container every process may be in a
// user namespace.
const rootlessVariable = "HOPWISE_LAB_ROOTLESS"

// IsRootless reports whether Rootless started the process.
func IsRootless() bool { return os.Getenv(rootlessVariable) == "1" }

// rightsHint says what a root without root's rights, as containers have it, needs.
func rightsHint(err error) string {
	if !errors.Is(err, unix.EPERM) {
		return ""
	}
	return ": give the container root's rights over networks (`--cap-add NET_ADMIN --cap-add SYS_ADMIN`)"
}

// RestrictedHint explains why rights are refused inside a user namespace, if the cause is known.
func RestrictedHint() string {
	if sysctlIs("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
		return ": AppArmor takes the rights from user namespaces here (`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`)"
	}
	return ""
}

func namespaceRemedy() string {
	switch {
	case sysctlIs("/proc/sys/kernel/unprivileged_userns_clone", "0"):
		return "allow them with `sudo sysctl kernel.unprivileged_userns_clone=1`"
	case sysctlIs("/proc/sys/user/max_user_namespaces", "0"):
		return "allow them with `sudo sysctl user.max_user_namespaces=10000`"
	}
	return "allow user namespaces for this user (in a container, its seccomp profile forbids them)"
}

func sysctlIs(path, value string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.TrimSpace(string(text)) == value
}
