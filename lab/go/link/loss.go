package link

import "math/rand/v2"

// lossModel decides for each packet, in order of arrival, whether it is lost. It draws once for each packet, so losses depend
// only on the seed and the packet's number.
//
// With bursts it is the simple Gilbert model (E. N. Gilbert, "Capacity of a burst-noise channel",
// Bell System Technical Journal 39, 1960, with loss 1 in the bad state and 0 in the good): mean
// loss p and mean burst length b give P(bad to good) = 1/b and P(good to bad) = p/(b(1-p)).
type lossModel struct {
	random *rand.Rand
	loss   float64
	toBad  float64
	toGood float64
	bursts bool
	bad    bool
}

// Streams of the random generators, so that one feature's draws do not shift another's.
const (
	streamLoss uint64 = iota
	streamUDPLoss
	streamJitter
	streamReorder
	streamsPerDirection
)

func newRandom(seed uint64, direction Side, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(direction)*streamsPerDirection+stream))
}

func newLossModel(random *rand.Rand, loss, burst float64) *lossModel {
	model := &lossModel{random: random}
	model.set(loss, burst)
	if model.bursts {
		model.bad = random.Float64() < loss
	}
	return model
}

func (m *lossModel) set(loss, burst float64) {
	m.loss, m.bursts = loss, burst > 1
	m.toGood = 1 / burst
	m.toBad = loss / (burst * (1 - loss))
	if !m.bursts || loss == 0 {
		m.bad = false
	}
}

func (m *lossModel) next() bool {
	draw := m.random.Float64()
	if !m.bursts {
		return draw < m.loss
	}
	if m.bad {
		m.bad = draw >= m.toGood
	} else {
		m.bad = draw < m.toBad
	}
	return m.bad
}
