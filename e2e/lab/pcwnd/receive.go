package pcwnd

import (
	"fmt"
	"io"
	"net"
	"strconv"
)

// ReceiveChild is the whole life of the receivers' process, in the client's network namespace: it
// connects, says so, and takes what is sent until in ends.
func ReceiveChild(address, connections string, in io.Reader, out io.Writer) error {
	count, err := strconv.Atoi(connections)
	if err != nil {
		return fmt.Errorf("bulk receiver: connections: expected a number, got %.40q", connections)
	}
	for range count {
		socket, err := net.Dial("tcp4", address)
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
