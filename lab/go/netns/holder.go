package netns

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// HolderFiles are the files in /etc that replace the machine's own for programs in the client's namespaces.
var HolderFiles = map[string]string{
	"hosts":         "/etc/hosts",
	"resolv.conf":   "/etc/resolv.conf",
	"nsswitch.conf": "/etc/nsswitch.conf",
}

// Hold is the main function of the holder process: it sets up its mount namespace, reports that, and keeps its namespaces alive
// until stdin ends. dir has the files that HolderFiles names.
func Hold(dir string, in io.Reader, out io.Writer) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount namespace: cannot make it private: %w", err)
	}
	for name, target := range HolderFiles {
		if _, err := os.Stat(target); err != nil {
			if name == "hosts" {
				return errors.New("/etc/hosts does not exist; the lab mounts its own over it inside its namespaces: create one (`sudo touch /etc/hosts`)")
			}
			// Without the file the C library's defaults do no harm, as loopback has no name server.
			continue
		}
		if err := unix.Mount(filepath.Join(dir, name), target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount namespace: cannot put %s in place: %w", target, err)
		}
	}
	if _, err := fmt.Fprintln(out, "held"); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}
