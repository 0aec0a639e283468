package serve

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hopwise/lab/site"
)

// unlimitedRate is SO_MAX_PACING_RATE's default.
const unlimitedRate = math.MaxUint32

// tcpStarts begins an origin's TCP connections at their clients' rates: with the route's initial window, which the kernel takes before the
// first byte, and the socket's pacing.
type tcpStarts struct {
	rates *startRates
	// index numbers the origin's routes to clients.
	index    int
	settings site.Settings
	log      *recorder
	// setWindow changes the route to a client; 0 is the kernel's default.
	setWindow func(client netip.Addr, index, window int) error
	mu        sync.Mutex
	// connections are the open ones.
	connections map[net.Conn]*tcpStart
	// windows are those of the routes, by client; absent ones have the origin's own.
	windows map[netip.Addr]int
	ended   bool
}

type tcpStart struct {
	isBusy bool
	// cappedRounds is 0 where the connection begins in the usual way, or has begun.
	cappedRounds int
}

func newTCPStarts(
	rates *startRates, index int, settings site.Settings, log *recorder, setWindow func(client netip.Addr, index, window int) error,
) *tcpStarts {
	starts := &tcpStarts{
		rates: rates, index: index, settings: settings, log: log, setWindow: setWindow,
		connections: map[net.Conn]*tcpStart{}, windows: map[netip.Addr]int{},
	}
	rates.join(starts)
	return starts
}

// follow is called when a connection's state changes.
func (s *tcpStarts) follow(connection net.Conn, state http.ConnState) {
	client := clientOf(connection)
	switch state {
	case http.StateNew:
		start := s.rates.open(client, time.Now())
		opened := &tcpStart{isBusy: true, cappedRounds: start.cappedRounds(cmp.Or(s.settings.InitialWindow, TCPInitialWindow))}
		s.mu.Lock()
		s.connections[connection] = opened
		s.mu.Unlock()
		if opened.cappedRounds > 0 {
			s.check(withSocket(connection, func(fd int) error { return setPacing(fd, bytesPerSecond(start.mbps)) }))
		}
	case http.StateActive:
		if rounds := s.setBusy(connection, client, true); rounds > 0 {
			go s.watch(connection, client, rounds, time.Now())
		}
	case http.StateIdle:
		s.setBusy(connection, client, false)
	case http.StateClosed, http.StateHijacked:
		s.setBusy(connection, client, false)
		s.mu.Lock()
		delete(s.connections, connection)
		s.mu.Unlock()
		s.rates.close(client)
	}
	s.rates.renew(client)
}

// setBusy returns for how many round trips the rate is to be the limit from now on, at a connection's first request.
func (s *tcpStarts) setBusy(connection net.Conn, client netip.Addr, isBusy bool) (cappedRounds int) {
	s.mu.Lock()
	opened := s.connections[connection]
	wasBusy := opened.isBusy
	opened.isBusy = isBusy
	if isBusy {
		cappedRounds, opened.cappedRounds = opened.cappedRounds, 0
	}
	s.mu.Unlock()
	if isBusy != wasBusy {
		s.rates.setBusy(client, isBusy)
	}
	return cappedRounds
}

// watch lifts the limit after some round trips or a loss, and judges the start a round trip later, when its losses show.
func (s *tcpStarts) watch(connection net.Conn, client netip.Addr, rounds int, began time.Time) {
	for {
		info, err := tcpInfo(connection)
		if err != nil {
			// It has ended: there is nothing left to limit or to judge.
			return
		}
		rtt := time.Duration(info.Rtt) * time.Microsecond
		if info.Total_retrans > 0 || time.Since(began) >= time.Duration(rounds)*rtt {
			sent := info.Data_segs_out
			own := uint64(unlimitedRate)
			if s.settings.PacingMbps > 0 {
				own = bytesPerSecond(s.settings.PacingMbps)
			}
			s.check(withSocket(connection, func(fd int) error { return setPacing(fd, own) }))
			time.Sleep(rtt)
			if info, err = tcpInfo(connection); err == nil {
				s.rates.judge(client, info.Total_retrans, sent, time.Now())
				s.rates.renew(client)
			}
			return
		}
		time.Sleep(max(time.Millisecond, rtt/10))
	}
}

// announce takes a request's field.
func (s *tcpStarts) announce(connection net.Conn, field string) {
	info, err := tcpInfo(connection)
	if err != nil {
		return
	}
	client := clientOf(connection)
	s.rates.announce(client, field, time.Duration(info.Min_rtt)*time.Microsecond, time.Now())
	s.rates.renew(client)
}

// renewWindow has the client's next connection begin with its window.
func (s *tcpStarts) renewWindow(client netip.Addr) {
	own := s.settings.InitialWindow
	s.mu.Lock()
	defer s.mu.Unlock()
	window := own
	if rate := s.rates.window(client); rate > cmp.Or(own, TCPInitialWindow) {
		window = rate
	}
	before, known := s.windows[client]
	if !known {
		before = own
	}
	if s.ended || !differs(window, before, own) {
		return
	}
	if err := s.setWindow(client, s.index, window); err != nil {
		s.check(err)
		return
	}
	s.windows[client] = window
}

// differs tells whether a route is worth a change: shares change with each request of a page.
func differs(window, before, own int) bool {
	if window == own || before == own {
		return window != before
	}
	return 4*max(window, before) > 5*min(window, before)
}

// reset gives the routes their own windows again.
func (s *tcpStarts) reset() error {
	s.rates.leave(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for client := range s.windows {
		if err := s.setWindow(client, s.index, s.settings.InitialWindow); err != nil {
			return err
		}
		delete(s.windows, client)
	}
	return nil
}

func (s *tcpStarts) check(err error) {
	if err != nil {
		fmt.Fprintf(s.log, "start rate: %v\n", err)
	}
}

func clientOf(connection net.Conn) netip.Addr {
	address, err := netip.ParseAddrPort(connection.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return address.Addr().Unmap()
}

func bytesPerSecond(mbps float64) uint64 { return uint64(mbps * 1e6 / 8) }

func setPacing(fd int, bytesPerSecond uint64) error {
	return unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, bytesPerSecond)
}

// withSocket calls act with the descriptor of a connection's socket.
func withSocket(connection net.Conn, act func(fd int) error) error {
	if secured, ok := connection.(*tls.Conn); ok {
		connection = secured.NetConn()
	}
	raw, err := connection.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := raw.Control(func(fd uintptr) { failure = act(int(fd)) }); err != nil {
		return err
	}
	return failure
}

func tcpInfo(connection net.Conn) (info *unix.TCPInfo, err error) {
	err = withSocket(connection, func(fd int) (failure error) {
		info, failure = unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		return failure
	})
	return info, err
}
