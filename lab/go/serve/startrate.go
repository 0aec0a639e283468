package serve

import (
	"maps"
	"math"
	"net/netip"
	"slices"
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
	// maxCappedRounds is for how many round trips the rate may be the limit, unless a loss ends them.
	maxCappedRounds = 3
)

// startRates is what a server knows of the rates of its clients, as hopwise-quiche does.
type startRates struct {
	mu      sync.Mutex
	clients map[netip.Addr]*startClient
	// origins are those whose connections share their clients' rates.
	origins []*tcpStarts
}

type startClient struct {
	// mbps is 0 before an announcement.
	mbps        float64
	rtt         time.Duration
	connections int
	// busy connections have a request under way, or have had none yet.
	busy        int
	lossyStarts int
	changed     time.Time
}

// start is how a connection begins: at a rate, with the window of a round trip at it, in segments; zero for the usual way.
type start struct {
	mbps   float64
	window int
}

// share is how a connection begins that shares the rate with the client's others that are busy.
func (c *startClient) share(busy int) start {
	if c.lossyStarts >= maxLossyStarts {
		return start{}
	}
	mbps := c.mbps / float64(max(1, busy))
	return start{mbps, min(maxStartWindow, int(mbps*125_000*c.rtt.Seconds()/segmentBytes+0.5))}
}

// cappedRounds is for how many round trips the rate is the limit of a start: while the usual start, whose window doubles each round, would send
// less. A longer limit would make small shares of a rate slower than no announcement.
func (s start) cappedRounds(usual int) int {
	if s.window <= usual {
		return 0
	}
	return min(maxCappedRounds, int(math.Ceil(math.Log2(float64(s.window)/float64(usual)))))
}

func (c *startClient) forgetOld(now time.Time) {
	if now.Sub(c.changed) >= startValid {
		*c = c.anew(now)
	}
}

// anew is the client with nothing but its connections.
func (c *startClient) anew(now time.Time) startClient {
	return startClient{connections: c.connections, busy: c.busy, changed: now}
}

// open counts a new connection of a client as busy, and returns how it may begin.
func (s *startRates) open(client netip.Addr, now time.Time) start {
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
			return start{}
		}
		if s.clients == nil {
			s.clients = map[netip.Addr]*startClient{}
		}
		s.clients[client] = &startClient{changed: now}
	}
	found := s.clients[client]
	found.forgetOld(now)
	found.connections++
	found.busy++
	return found.share(found.busy)
}

// setBusy counts a connection that has requests again, or none any more.
func (s *startRates) setBusy(client netip.Addr, isBusy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.clients[client]; found != nil && isBusy {
		found.busy++
	} else if found != nil {
		found.busy = max(0, found.busy-1)
	}
}

// forget has all clients begin anew, but for their open connections.
func (s *startRates) forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, client := range s.clients {
		*client = client.anew(now)
	}
}

// join has an origin's connections share the rates, and begin with the windows of the clients that are known.
func (s *startRates) join(origin *tcpStarts) {
	s.mu.Lock()
	s.origins = append(s.origins, origin)
	known := slices.Collect(maps.Keys(s.clients))
	s.mu.Unlock()
	for _, client := range known {
		origin.renewWindow(client)
	}
}

func (s *startRates) leave(origin *tcpStarts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.origins = slices.DeleteFunc(s.origins, func(other *tcpStarts) bool { return other == origin })
}

// renew has a client's next connection to each origin begin with its window.
func (s *startRates) renew(client netip.Addr) {
	s.mu.Lock()
	origins := slices.Clone(s.origins)
	s.mu.Unlock()
	for _, origin := range origins {
		origin.renewWindow(client)
	}
}

// close ends the count of a connection that is no longer busy.
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
	if found := s.clients[client]; found != nil {
		return found.share(found.busy + 1).window
	}
	return 0
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
