package pcwnd

import (
	"math"
	"reflect"
	"testing"
)

const testMSS = 1000

// flight is a sample with packets from..to in flight; the sequence numbers wrap early on.
func flight(from, to int, cwnd uint32) Sample {
	const start = math.MaxUint32 - 4*testMSS
	return Sample{start + uint32(from*testMSS), start + uint32(to*testMSS), cwnd}
}

func track(steps ...any) *Counts {
	counts := NewCounts()
	tracker := NewTracker(counts, testMSS)
	for _, step := range steps {
		switch step := step.(type) {
		case Sample:
			tracker.Sample(step)
		case int:
			tracker.State(step)
		case string:
			tracker.Interrupt()
		}
	}
	return counts
}

func TestTracker(t *testing.T) {
	for name, c := range map[string]struct {
		steps []any
		want  []WindowCount
	}{
		"slow start without loss, a round for each flight": {
			[]any{flight(0, 2, 2), flight(1, 4, 3), flight(2, 6, 4), flight(4, 10, 6), flight(6, 14, 8)},
			[]WindowCount{{Cwnd: 2, Rounds: 1, Packets: 2}, {Cwnd: 4, Rounds: 1, Packets: 4}},
		},
		"a loss counts for the round in which it was sent": {
			// Packet 5 of the flight 2..6 is lost, and found when the window is 8.
			[]any{flight(0, 2, 2), flight(2, 6, 4), flight(5, 12, 8), caDisorder, flight(5, 13, 8), caRecovery, flight(5, 14, 7)},
			[]WindowCount{{Cwnd: 2, Rounds: 1, Packets: 2}, {Cwnd: 4, Rounds: 1, Packets: 4, LossEvents: 1}},
		},
		"an acknowledgment that ends a round and uncovers a loss of the next": {
			[]any{flight(0, 4, 4), flight(3, 8, 5), caRecovery, flight(4, 8, 3)},
			[]WindowCount{{Cwnd: 4, Rounds: 1, Packets: 4}, {Cwnd: 5, Rounds: 1, Packets: 4, LossEvents: 1}},
		},
		"one recovery is one event, and a timeout in it none": {
			[]any{
				flight(0, 4, 4), caRecovery, flight(1, 4, 3), caLoss, flight(1, 4, 1), flight(2, 5, 1), caOpen, flight(5, 7, 2),
			},
			[]WindowCount{{Cwnd: 4, Rounds: 1, Packets: 4, LossEvents: 1}},
		},
		"what was sent in a recovery makes no round, nor does its loss": {
			[]any{
				flight(0, 4, 4), caRecovery, flight(1, 5, 3), caOpen, flight(4, 6, 2), caRecovery, flight(4, 6, 1),
				caOpen, flight(6, 8, 2), flight(8, 10, 2), flight(10, 13, 3),
			},
			[]WindowCount{{Cwnd: 2, Rounds: 1, Packets: 2}, {Cwnd: 4, Rounds: 1, Packets: 4, LossEvents: 1}},
		},
		"a timeout counts like a recovery": {
			[]any{flight(0, 4, 4), caLoss, flight(0, 4, 1)},
			[]WindowCount{{Cwnd: 4, Rounds: 1, Packets: 4, LossEvents: 1}},
		},
		"a round around missing samples is not counted": {
			[]any{flight(0, 4, 4), "missing", flight(9, 13, 4), flight(13, 17, 4), flight(17, 21, 4)},
			[]WindowCount{{Cwnd: 4, Rounds: 1, Packets: 4}},
		},
		"nothing in flight is no round": {
			[]any{flight(0, 0, 4), flight(0, 0, 4), flight(0, 3, 4), flight(3, 3, 4), flight(3, 5, 4), flight(5, 5, 4)},
			[]WindowCount{{Cwnd: 4, Rounds: 2, Packets: 5}},
		},
	} {
		counts := track(c.steps...)
		if got := counts.Windows(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: expected %+v, got %+v", name, c.want, got)
		}
		var rounds, events uint64
		for _, window := range counts.Windows() {
			rounds, events = rounds+window.Rounds, events+window.LossEvents
		}
		if counts.Rounds != rounds || counts.LossEvents != events {
			t.Errorf("%s: expected sums of %d and %d, got %d and %d", name, rounds, events, counts.Rounds, counts.LossEvents)
		}
	}
}

func TestTrackerCountsRecoveriesOutsideOfRounds(t *testing.T) {
	counts := track(flight(0, 4, 4), caRecovery, flight(1, 5, 3), caOpen, flight(4, 6, 2), caRecovery, flight(4, 6, 1))
	if counts.Recoveries != 2 || counts.LossEvents != 1 {
		t.Errorf("expected 2 recoveries and 1 loss event, got %d and %d", counts.Recoveries, counts.LossEvents)
	}
}

func TestCountsTakeRecentOnce(t *testing.T) {
	counts := NewCounts()
	counts.add(4, 4, false)
	counts.add(2, 2, true)
	first := counts.TakeRecent()
	if want := []WindowCount{{Cwnd: 2, Rounds: 1, Packets: 2, LossEvents: 1}, {Cwnd: 4, Rounds: 1, Packets: 4}}; !reflect.DeepEqual(first, want) {
		t.Errorf("expected %+v, got %+v", want, first)
	}
	counts.add(4, 3, true)
	if got, want := counts.TakeRecent(), []WindowCount{{Cwnd: 4, Rounds: 1, Packets: 3, LossEvents: 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("expected %+v, got %+v", want, got)
	}
	if got := counts.Windows(); len(got) != 2 || got[1].Packets != 7 {
		t.Errorf("expected 7 packets in windows of 4, got %+v", got)
	}
}
