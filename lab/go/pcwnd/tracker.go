// Package pcwnd measures how often TCP loses by the size of its congestion window: p(cwnd, npc) of
// ECON (Cao et al., IMC 2019), at the sender of bulk transfers over npc parallel connections.
package pcwnd

import (
	"maps"
	"slices"
)

// Congestion states of the kernel (enum tcp_ca_state, linux/tcp.h). From cwr on the window is being reduced: after a loss
// repaired by a probe, a detected loss, or a retransmission timeout.
const (
	caOpen     = 0
	caDisorder = 1
	caCWR      = 2
	caRecovery = 3
	caLoss     = 4
)

// WindowCount has the counts of windows of Cwnd segments.
type WindowCount struct {
	Cwnd   uint32 `json:"cwnd"`
	Rounds uint64 `json:"rounds"`
	// Packets of these rounds: fewer than Rounds × Cwnd where the sender did not fill its window.
	Packets    uint64 `json:"packets"`
	LossEvents uint64 `json:"lossEvents"`
}

// Counts are shared by the connections of a run.
type Counts struct {
	windows, recent windowCounts
	// Recoveries are all reductions of a window, including those in uncounted rounds.
	Recoveries uint64
	// Rounds and LossEvents are the sums of the windows'.
	Rounds, LossEvents uint64
}

// NewCounts returns empty counts.
func NewCounts() *Counts { return &Counts{windows: windowCounts{}, recent: windowCounts{}} }

// Windows returns the counts in order of the window.
func (c *Counts) Windows() []WindowCount { return c.windows.sorted() }

// TakeRecent returns the counts since its last call, in order of the window.
func (c *Counts) TakeRecent() []WindowCount {
	recent := c.recent.sorted()
	clear(c.recent)
	return recent
}

func (c *Counts) add(cwnd uint32, packets uint32, lost bool) {
	c.windows.add(cwnd, packets, lost)
	c.recent.add(cwnd, packets, lost)
	c.Rounds++
	if lost {
		c.LossEvents++
	}
}

type windowCounts map[uint32]*WindowCount

func (w windowCounts) add(cwnd uint32, packets uint32, lost bool) {
	count := w[cwnd]
	if count == nil {
		count = &WindowCount{Cwnd: cwnd}
		w[cwnd] = count
	}
	count.Rounds++
	count.Packets += uint64(packets)
	if lost {
		count.LossEvents++
	}
}

func (w windowCounts) sorted() []WindowCount {
	sorted := []WindowCount{}
	for _, cwnd := range slices.Sorted(maps.Keys(w)) {
		sorted = append(sorted, *w[cwnd])
	}
	return sorted
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
	// reducing: from the loss's detection to the end of the kernel's recovery.
	reducing
	// reduced: the recovery is over, its last flight not yet marked.
	reduced
	// settling: until the packets sent during the recovery are acknowledged.
	settling
)

// Tracker divides one connection's transfer into rounds and finds the rounds with losses.
//
// A round is one flight: the data unacknowledged at one moment, until all of it is acknowledged; its window is the congestion
// window at that moment. The next round is the data in flight then.
//
// A loss event is one reduction of the window: the kernel's congestion state goes from open or
// disorder to CWR, recovery or loss, and all losses until it returns belong to the same event. It counts for the round of the
// first lost packet, which is the oldest unacknowledged one at that time: for the window in which that packet was sent, not for
// the window of its detection a round trip later. Packets in flight or sent until the recovery's end form no round, since their
// losses are repaired in the same recovery and cannot be distinguished.
//
// A reduction that the kernel undoes later, after reordering, counts too.
type Tracker struct {
	counts *Counts
	mss    uint32

	phase      phase
	start, end uint32
	cwnd       uint32
	last       Sample
	// lossFound: the state has changed, and the next sample shows what was lost.
	lossFound bool
}

// NewTracker returns a tracker for a connection with segments of mss bytes.
func NewTracker(counts *Counts, mss uint32) *Tracker { return &Tracker{counts: counts, mss: mss} }

// State processes a change of the congestion state; the sample after it follows.
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

// Sample processes a sample of the sender's state.
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

// Interrupt records that samples are missing.
func (t *Tracker) Interrupt() { t.phase, t.lossFound = reduced, false }

func (t *Tracker) attribute(s Sample) {
	if before(s.Unacknowledged, t.end) {
		t.counts.add(t.cwnd, t.packets(t.start, t.end), true)
		return
	}
	// The acknowledgment that revealed the loss ended the round: the data in flight beyond it at the previous sample formed the
	// next.
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
