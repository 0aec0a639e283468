package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/quic-go/quic-go"
	"golang.org/x/sys/unix"
)

// connection is the state shared by the requests of one connection.
type connection struct {
	// number counts the connections of one server run.
	number   uint64
	turns    turns
	requests atomic.Uint64
	// socket is nil for QUIC.
	socket net.Conn
	// quic is nil for TCP.
	quic    *quic.Conn
	bounded sync.Once
}

// connectionKey finds the connection in a request's context.
type connectionKey struct{}

var connections atomic.Uint64

// withConnection makes the context of a new connection's requests.
func withConnection(ctx context.Context, socket net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{number: connections.Add(1), socket: socket})
}

// withQUICConnection is withConnection for QUIC.
func withQUICConnection(ctx context.Context, c *quic.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{number: connections.Add(1), quic: c})
}

// beganEarly is whether the connection began with early data.
func (c *connection) beganEarly() bool {
	return c.quic != nil && c.quic.ConnectionState().Used0RTT
}

// connectionOf returns the connection that a request came on.
func connectionOf(r *http.Request) *connection {
	if found, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		return found
	}
	// Only a request that no server has received gets here.
	return &connection{}
}

// order numbers a request among those of its connection, in the order in which they were made. HTTP/2 does not expose the
// stream's number, but handlers start in order of their requests.
func (c *connection) order(r *http.Request) uint64 {
	if body, ok := r.Body.(interface{ StreamID() quic.StreamID }); ok {
		return uint64(body.StreamID())
	}
	return c.requests.Add(1)
}

// unsentBytes is how much the kernel accepts beyond what TCP may send at once. Accepted bytes are sent in order, ahead of
// anything more urgent.
const unsentBytes = 16 << 10

// boundUnsent prevents the kernel from accepting much more than TCP may send.
func (c *connection) boundUnsent() (failure error) {
	c.bounded.Do(func() {
		secured, ok := c.socket.(*tls.Conn)
		if !ok {
			return
		}
		raw, err := secured.NetConn().(syscall.Conn).SyscallConn()
		if err != nil {
			failure = err
			return
		}
		err = raw.Control(func(fd uintptr) {
			failure = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentBytes)
		})
		if failure == nil {
			failure = err
		}
		if failure != nil {
			failure = fmt.Errorf("TCP_NOTSENT_LOWAT: %w", failure)
		}
	})
	return failure
}
