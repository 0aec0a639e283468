package link

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Pump carries packets between the client's and the server's TUN device through two Directions,
// one locked thread each.
type Pump struct {
	lanes [2]*lane
	done  sync.WaitGroup
}

type lane struct {
	side     Side
	from, to int
	wake     int
	stopping atomic.Bool

	mutex     sync.Mutex
	direction *Direction
	buffers   buffers
	lastBusy  int64
	failure   error
}

// readBatch bounds the packets read before those due are delivered.
const readBatch = 32

var epoch = time.Now()

// Now is the pump's clock, monotonic, in nanoseconds.
func Now() int64 { return int64(time.Since(epoch)) + 1 }

// NewPump takes two non-blocking TUN descriptors, which the caller closes after Stop.
func NewPump(clientTUN, serverTUN int, network Network, peers map[netip.Addr]Peer) (*Pump, error) {
	p := &Pump{}
	for side, ends := range [2][2]int{Down: {serverTUN, clientTUN}, Up: {clientTUN, serverTUN}} {
		wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
		if err != nil {
			return nil, fmt.Errorf("link: eventfd: %w", err)
		}
		p.lanes[side] = &lane{
			side: Side(side), from: ends[0], to: ends[1], wake: wake, lastBusy: Now(),
			direction: NewDirection(Side(side), network, peers, Now()),
		}
	}
	return p, nil
}

// Start runs the two directions until Stop. prepare is called first on each of their threads.
func (p *Pump) Start(prepare func()) {
	for _, l := range p.lanes {
		p.done.Add(1)
		go func() {
			defer p.done.Done()
			runtime.LockOSThread()
			prepare()
			l.run()
		}()
	}
}

// Stop ends both directions and drops packets in flight.
func (p *Pump) Stop() {
	for _, l := range p.lanes {
		l.stopping.Store(true)
		l.interrupt()
	}
	p.done.Wait()
	for _, l := range p.lanes {
		unix.Close(l.wake)
	}
}

// Configure changes both directions at the same moment.
func (p *Pump) Configure(network Network) {
	p.both(func(l *lane) { l.direction.Configure(network, Now()) })
}

// SetPeers sets what lies between the link and each server.
func (p *Pump) SetPeers(peers map[netip.Addr]Peer) {
	p.both(func(l *lane) { l.direction.SetPeers(peers, Now()) })
}

// ResetStats clears the statistics of both directions.
func (p *Pump) ResetStats() {
	p.both(func(l *lane) { l.direction.ResetStats() })
}

// Stats copies the statistics of both directions.
func (p *Pump) Stats() (down, up DirectionStats) {
	p.both(func(l *lane) {
		if l.side == Down {
			down = l.direction.Stats()
		} else {
			up = l.direction.Stats()
		}
	})
	return down, up
}

// QuietFor returns how long the link has been empty. A packet that waits to be read is on the link already: where the
// machine is busy, a lane may take a while to come to it.
func (p *Pump) QuietFor() time.Duration {
	now := Now()
	quiet := now
	p.both(func(l *lane) {
		if !l.direction.Idle(now) || isReadable(l.from) {
			l.lastBusy = now
		}
		quiet = min(quiet, now-l.lastBusy)
	})
	return time.Duration(quiet)
}

// Failure returns the error that stopped a direction, or nil.
func (p *Pump) Failure() (failure error) {
	p.both(func(l *lane) { failure = errors.Join(failure, l.failure) })
	return failure
}

func (p *Pump) both(act func(*lane)) {
	for _, l := range p.lanes {
		l.mutex.Lock()
	}
	for _, l := range p.lanes {
		act(l)
		l.mutex.Unlock()
		l.interrupt()
	}
}

func (l *lane) interrupt() {
	// A full counter means that a wake-up is already pending.
	_, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// isReadable says whether a packet waits in the descriptor. One that cannot be asked counts as empty: reading it fails as
// well, and Failure reports that.
func isReadable(fd int) bool {
	polls := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	count, err := unix.Poll(polls, 0)
	return err == nil && count > 0 && polls[0].Revents&unix.POLLIN != 0
}

func (l *lane) run() {
	polls := []unix.PollFd{
		{Fd: int32(l.from), Events: unix.POLLIN},
		{Fd: int32(l.wake), Events: unix.POLLIN},
	}
	counter := make([]byte, 8)
	for !l.stopping.Load() {
		more, next, waiting, err := l.step()
		if err != nil {
			l.mutex.Lock()
			l.failure = err
			l.mutex.Unlock()
			return
		}
		if more {
			continue
		}
		var timeout *unix.Timespec
		if waiting {
			left := next - Now()
			if left <= 0 {
				continue
			}
			value := unix.NsecToTimespec(left)
			timeout = &value
		}
		if _, err := unix.Ppoll(polls, timeout, nil); err != nil && err != unix.EINTR {
			l.mutex.Lock()
			l.failure = fmt.Errorf("link: ppoll: %w", err)
			l.mutex.Unlock()
			return
		}
		if polls[1].Revents != 0 {
			_, _ = unix.Read(l.wake, counter)
		}
	}
}

// step reads arrived packets, delivers due ones, and returns the time of the next step.
func (l *lane) step() (more bool, next int64, waiting bool, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	d := l.direction
	for count := 0; ; count++ {
		if count == readBatch {
			more = true
			break
		}
		slot := l.buffers.take()
		size, errno := rawRead(l.from, l.buffers.at(slot))
		now := Now()
		if errno != 0 {
			l.buffers.give(slot)
			if errno == unix.EAGAIN {
				break
			}
			if errno == unix.EINTR {
				continue
			}
			return false, 0, false, fmt.Errorf("link: reading the TUN device: %w", errno)
		}
		l.lastBusy = now
		packet, ok := inspect(l.buffers.at(slot)[:size], l.side)
		// Multicast and other background packets must not shift the numbers of the page's packets.
		if !ok || !d.Known(packet.Server) {
			l.buffers.give(slot)
			continue
		}
		packet.Buffer = slot
		if d.Arrive(now, packet) != Accepted {
			l.buffers.give(slot)
		}
	}
	now := Now()
	for {
		packet, deliverAt, ok := d.Due(now)
		if !ok {
			break
		}
		errno := rawWrite(l.to, l.buffers.at(packet.Buffer)[:packet.Size])
		now = Now()
		if errno != 0 {
			d.stats.writeFails++
		} else {
			d.Delivered(deliverAt, now)
		}
		l.lastBusy = now
		l.buffers.give(packet.Buffer)
	}
	for {
		slot, ok := d.Released()
		if !ok {
			break
		}
		l.buffers.give(slot)
	}
	next, waiting = d.NextEvent()
	return more, next, waiting, nil
}
