package serve

import (
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// What an announcement may say, in Mbit/s; others are ignored.
const (
	minStartMbps = 0.1
	maxStartMbps = 1000
)

const (
	// maxStartWindow bounds what one client can make the server send at once, in segments.
	maxStartWindow = 2000
	segmentBytes   = 1500
	// startValid is how long an announcement and a client's lost starts count.
	startValid = time.Hour
	// maxStartClients bounds memory.
	maxStartClients = 10_000
	// maxLostShare is more than paths lose by chance: a start that lost a larger share of its segments did harm.
	maxLostShare = 0.05
	// maxLossyStarts is how many of them a client may have before it is no longer believed.
	maxLossyStarts = 2
	// cappedRounds is for how many round trips the rate is the limit, unless a loss ends them.
	cappedRounds = 3
)

// startRates is what a server knows of the rates of its clients, as hopwise-quiche does.
type startRates struct {
	mu      sync.Mutex
	clients map[netip.Addr]*startClient
}

type startClient struct {
	// mbps is 0 before an announcement.
	mbps        float64
	rtt         time.Duration
	connections int
	lossyStarts int
	changed     time.Time
}

// share is the part of the rate that each of the client's connections may have; 0 where the client is not believed.
func (c *startClient) share() float64 {
	if c.lossyStarts >= maxLossyStarts {
		return 0
	}
	return c.mbps / float64(max(1, c.connections))
}

func (c *startClient) forgetOld(now time.Time) {
	if now.Sub(c.changed) >= startValid {
		*c = startClient{connections: c.connections, changed: now}
	}
}

// open counts a new connection of a client, and returns the rate that it may start at, or 0.
func (s *startRates) open(client netip.Addr, now time.Time) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.clients[client]; !known {
		if len(s.clients) >= maxStartClients {
			for address, other := range s.clients {
				if other.connections == 0 && now.Sub(other.changed) >= startValid {
					delete(s.clients, address)
				}
			}
		}
		if len(s.clients) >= maxStartClients {
			return 0
		}
		if s.clients == nil {
			s.clients = map[netip.Addr]*startClient{}
		}
		s.clients[client] = &startClient{changed: now}
	}
	found := s.clients[client]
	found.forgetOld(now)
	found.connections++
	return found.share()
}

// forget has all clients begin anew, but for their open connections.
func (s *startRates) forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, client := range s.clients {
		*client = startClient{connections: client.connections, changed: now}
	}
}

func (s *startRates) close(client netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.clients[client]; found != nil && found.connections > 0 {
		found.connections--
	}
}

// announce takes a request's field, in Mbit/s, and the connection's round trip. Unreadable fields are ignored.
func (s *startRates) announce(client netip.Addr, field string, rtt time.Duration, now time.Time) {
	mbps, err := strconv.ParseFloat(field, 64)
	if err != nil || !(mbps >= minStartMbps && mbps <= maxStartMbps) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.clients[client]
	if found == nil {
		return
	}
	found.forgetOld(now)
	found.mbps, found.rtt = mbps, rtt
	// The time that a lie is remembered does not begin anew with every request.
	if found.lossyStarts == 0 {
		found.changed = now
	}
}

// window is the initial window for the client's next connection, in segments; 0 for the usual one.
func (s *startRates) window(client netip.Addr) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.clients[client]
	if found == nil || found.lossyStarts >= maxLossyStarts {
		return 0
	}
	mbps := found.mbps / float64(found.connections+1)
	return min(maxStartWindow, int(mbps*125_000*found.rtt.Seconds()/segmentBytes+0.5))
}

// judge counts a start that lost too much.
func (s *startRates) judge(client netip.Addr, lost, sent uint32, now time.Time) {
	if float64(lost) <= maxLostShare*float64(sent) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.clients[client]; found != nil {
		found.lossyStarts++
		found.changed = now
	}
}
