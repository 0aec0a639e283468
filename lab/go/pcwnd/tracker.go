// Package pcwnd measures how often TCP loses by the size of its congestion window: p(cwnd, npc) of
// ECON (Cao et al., IMC 2019), at the sender of bulk transfers over npc parallel connections.
package pcwnd

import (
	"maps"
	"slices"
)

// Congestion states of the kernel (enum tcp_ca_state, linux/tcp.h). From cwr on the window is being
// reduced: for a loss that a probe repaired, for a loss that was found, after a retransmission timeout.
const (
	caOpen     = 0
	caDisorder = 1
	caCWR      = 2
	caRecovery = 3
	caLoss     = 4
)

// WindowCount is what was seen of windows of Cwnd segments.
type WindowCount struct {
	Cwnd   uint32 `json:"cwnd"`
	Rounds uint64 `json:"rounds"`
	// Packets of these rounds: fewer than Rounds × Cwnd where the sender did not fill its window.
	Packets    uint64 `json:"packets"`
	LossEvents uint64 `json:"lossEvents"`
}

// Counts are shared by the connections of a run.
type Counts struct {
	windows map[uint32]*WindowCount
	// Recoveries are all reductions of a window, those too whose round is not counted.
	Recoveries uint64
	// Rounds and LossEvents are the sums of the windows'.
	Rounds, LossEvents uint64
}

// NewCounts makes empty ones.
func NewCounts() *Counts { return &Counts{windows: map[uint32]*WindowCount{}} }

// Windows are in order of the window.
func (c *Counts) Windows() []WindowCount {
	sorted := []WindowCount{}
	for _, cwnd := range slices.Sorted(maps.Keys(c.windows)) {
		sorted = append(sorted, *c.windows[cwnd])
	}
	return sorted
}

func (c *Counts) add(cwnd uint32, packets uint32, lost bool) {
	count := c.windows[cwnd]
	if count == nil {
		count = &WindowCount{Cwnd: cwnd}
		c.windows[cwnd] = count
	}
	count.Rounds++
	c.Rounds++
	count.Packets += uint64(packets)
	if lost {
		count.LossEvents++
		c.LossEvents++
	}
}

// Sample is a sender's state at one moment; sequence numbers wrap.
type Sample struct {
	Unacknowledged, Next uint32
	Cwnd                 uint32
}

type phase int

const (
	// idle: nothing was in flight.
	idle phase = iota
	// counting: a round is under way.
	counting
	// reducing: from the loss's discovery until the kernel has left the recovery.
	reducing
	// reduced: the recovery is over, its last flight not yet marked.
	reduced
	// settling: until what was sent during the recovery is acknowledged.
	settling
)

// Tracker cuts one connection's transfer into rounds and finds the rounds that lost.
//
// A round is one flight: what is unacknowledged at a moment, until all of it is acknowledged; its
// window is the congestion window at that moment. The next round is what is in flight then.
//
// A loss event is one reduction of the window: the kernel's congestion state goes from open or
// disorder to CWR, recovery or loss, and all that is lost until it is back belongs to the same event.
// It is counted for the round that the first lost packet belongs to, which is the oldest
// unacknowledged one then, thus for the window in which it was sent and not for that of its
// discovery a round trip later. What was in flight or is sent until the recovery's end makes no round,
// since what it loses is repaired in the same recovery and could not be told.
//
// A reduction that the kernel takes back later, after reordering, counts too.
type Tracker struct {
	counts *Counts
	mss    uint32

	phase      phase
	start, end uint32
	cwnd       uint32
	last       Sample
	// lossFound: the state has changed, and the next sample says what was lost.
	lossFound bool
}

// NewTracker follows a connection with segments of mss bytes.
func NewTracker(counts *Counts, mss uint32) *Tracker { return &Tracker{counts: counts, mss: mss} }

// State takes a change of the congestion state; the sample of the time after it comes next.
func (t *Tracker) State(state int) {
	if state < caCWR {
		if t.phase == reducing {
			t.phase = reduced
		}
		return
	}
	if t.phase == reducing {
		return
	}
	t.counts.Recoveries++
	t.lossFound = t.phase == counting
	t.phase = reducing
}

// Sample takes the state of the sender.
func (t *Tracker) Sample(s Sample) {
	defer func() { t.last = s }()
	if t.lossFound {
		t.lossFound = false
		t.attribute(s)
	}
	switch t.phase {
	case idle:
		t.begin(s)
	case counting:
		if !before(s.Unacknowledged, t.end) {
			t.counts.add(t.cwnd, t.packets(t.start, t.end), false)
			t.begin(s)
		}
	case reduced:
		t.end, t.phase = s.Next, settling
	case settling:
		if !before(s.Unacknowledged, t.end) {
			t.begin(s)
		}
	}
}

// Interrupt tells that samples are missing.
func (t *Tracker) Interrupt() { t.phase, t.lossFound = reduced, false }

func (t *Tracker) attribute(s Sample) {
	if before(s.Unacknowledged, t.end) {
		t.counts.add(t.cwnd, t.packets(t.start, t.end), true)
		return
	}
	// The acknowledgment that uncovered the loss ended the round: what the sample before saw in flight
	// behind it was the next.
	t.counts.add(t.cwnd, t.packets(t.start, t.end), false)
	if before(s.Unacknowledged, t.last.Next) {
		t.counts.add(t.last.Cwnd, t.packets(s.Unacknowledged, t.last.Next), true)
	}
}

func (t *Tracker) begin(s Sample) {
	t.phase = idle
	if before(s.Unacknowledged, s.Next) {
		t.phase, t.start, t.end, t.cwnd = counting, s.Unacknowledged, s.Next, s.Cwnd
	}
}

func (t *Tracker) packets(from, to uint32) uint32 { return (to - from + t.mss - 1) / t.mss }

// before compares sequence numbers (RFC 9293, section 3.4).
func before(a, b uint32) bool { return int32(a-b) < 0 }
