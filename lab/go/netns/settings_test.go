package netns_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hopwise/lab/netns"
	"hopwise/lab/netns/netnstest"
)

// inContainer marks the process that has namespaces of its own.
const inContainer = "HOPWISE_TEST_IN_CONTAINER"

func TestMain(m *testing.M) { netnstest.Main(m) }

// The settings are mounted as container runtimes do it.
func TestSettingsAreWrittenBelowAReadOnlyMount(t *testing.T) {
	if os.Getenv(inContainer) == "" {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		child.Env = append(os.Environ(), inContainer+"=1")
		child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET}
		if output, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		return
	}
	mount(t, "", "/", unix.MS_REC|unix.MS_PRIVATE)
	mount(t, "/proc/sys", "/proc/sys", unix.MS_BIND)
	mount(t, "", "/proc/sys", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY)
	const setting = "net/ipv4/tcp_no_metrics_save"
	if before := read(t, setting); before != "0" {
		t.Fatalf("before: got %q, want 0", before)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := netns.SetSetting(setting, "1"); err != nil {
		t.Fatal(err)
	}
	if after := read(t, setting); after != "1" {
		t.Errorf("after: got %q, want 1", after)
	}
}

func TestASettingThatDoesNotExistIsSaidToBeMissing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := netns.SetSetting("net/ipv4/no_such_setting", "1"); !os.IsNotExist(err) {
		t.Errorf("got %v, want a file that is missing", err)
	}
}

func mount(t *testing.T, source, target string, flags uintptr) {
	t.Helper()
	if err := unix.Mount(source, target, "", flags, ""); err != nil {
		t.Fatalf("mount %s: %v", target, err)
	}
}

func read(t *testing.T, setting string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/" + setting)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
