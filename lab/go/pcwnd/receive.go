package pcwnd

import (
	"fmt"
	"io"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// ReceiveChild is the main function of the receivers' process, in the client's network namespace: it connects, reports that,
// and reads until in ends.
func ReceiveChild(address, connections, bufferBytes string, in io.Reader, out io.Writer) error {
	count, err := strconv.Atoi(connections)
	if err != nil {
		return fmt.Errorf("bulk receiver: connections: expected a number, got %.40q", connections)
	}
	bytes, err := strconv.Atoi(bufferBytes)
	if err != nil {
		return fmt.Errorf("bulk receiver: buffer: expected a number, got %.40q", bufferBytes)
	}
	// It is set before connecting, which fixes the window scale.
	dialer := net.Dialer{KeepAlive: -1, Control: control(func(fd int) error {
		return setBuffer(fd, unix.SO_RCVBUFFORCE, bytes)
	})}
	for range count {
		socket, err := dialer.Dial("tcp4", address)
		if err != nil {
			return fmt.Errorf("bulk receiver: %w", err)
		}
		defer socket.Close()
		go func() {
			chunk := make([]byte, chunkBytes)
			for {
				if _, err := socket.Read(chunk); err != nil {
					return
				}
			}
		}()
	}
	if _, err := fmt.Fprintln(out, "connected"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}
