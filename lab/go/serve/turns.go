package serve

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// chunkBytes is how much of a response goes to the transport in one turn. A more urgent response waits only for this and for
// what the transport holds.
const chunkBytes = 8 << 10

// stallAfter is how long a chunk may take before its response counts as stalled (such as by its own flow control) and others
// continue.
const stallAfter = 2 * time.Second

// turns decides which of a connection's responses passes the next chunk of its body to the transport (RFC 9218, section 10):
// the most urgent; within an urgency the non-incremental ones, one after the other in order of request, and then the
// incremental ones in turns.
type turns struct {
	mutex sync.Mutex
	// holder is the response writing its chunk; no other may start one.
	holder *sender
	since  time.Time
	// waiting are the responses with bytes to send.
	waiting []*sender
	given   uint64
	stall   *time.Timer
}

// sender is a response with a body to send.
type sender struct {
	priority
	// order is that of the requests on the connection.
	order uint64
	// lastTurn numbers the turns of the connection.
	lastTurn uint64
	turn     chan struct{}
}

// send writes body chunk by chunk, each when it is its turn, and returns how much was written.
func (t *turns) send(ctx context.Context, wanted priority, order uint64, body []byte, write func([]byte) error) (int, error) {
	s := &sender{priority: wanted, order: order, turn: make(chan struct{}, 1)}
	defer t.leave(s)
	written := 0
	for chunk := range slices.Chunk(body, chunkBytes) {
		t.queue(s)
		select {
		case <-s.turn:
		case <-ctx.Done():
			return written, ctx.Err()
		}
		if err := write(chunk); err != nil {
			return written, err
		}
		written += len(chunk)
	}
	return written, nil
}

// queue ends the turn of s, if it still has it, and makes it wait for the next.
func (t *turns) queue(s *sender) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.holder == s {
		t.holder = nil
	}
	t.waiting = append(t.waiting, s)
	t.give()
}

func (t *turns) leave(s *sender) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.holder == s {
		t.holder = nil
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(other *sender) bool { return other == s })
	t.give()
}

// give passes the turn to a waiting response, if no response holds it.
func (t *turns) give() {
	if t.holder != nil {
		return
	}
	if len(t.waiting) == 0 {
		if t.stall != nil {
			t.stall.Stop()
		}
		return
	}
	next := slices.MinFunc(t.waiting, byTurn)
	t.waiting = slices.DeleteFunc(t.waiting, func(other *sender) bool { return other == next })
	t.given++
	next.lastTurn = t.given
	t.holder, t.since = next, time.Now()
	next.turn <- struct{}{}
	if t.stall == nil {
		t.stall = time.AfterFunc(stallAfter, t.passOver)
	} else {
		t.stall.Reset(stallAfter)
	}
}

// passOver takes the turn from a holder whose chunk does not end. The holder queues again when it ends.
func (t *turns) passOver() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	// The timer may have fired while the turn was passed on.
	if t.holder == nil || time.Since(t.since) < stallAfter {
		return
	}
	t.holder = nil
	t.give()
}

// byTurn orders responses by their turn.
func byTurn(a, b *sender) int {
	switch {
	case a.urgency != b.urgency:
		return int(a.urgency - b.urgency)
	case a.incremental != b.incremental:
		if a.incremental {
			return 1
		}
		return -1
	case a.incremental && a.lastTurn != b.lastTurn:
		return cmp.Compare(a.lastTurn, b.lastTurn)
	}
	return cmp.Compare(a.order, b.order)
}
