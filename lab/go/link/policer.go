package link

// policer is a token bucket that drops packets beyond its rate (RFC 2475, section 2.3.3.3).
// It starts full.
type policer struct {
	bytesPerNano float64
	burst        float64
	tokens       float64
	last         int64
}

// Without a given burst the bucket holds 50 ms at the rate, and never less than ten full packets.
const (
	defaultBurstNanos = 50e6
	minimumBurst      = 15_000
)

func newPolicer(mbps, burstBytes float64, now int64) *policer {
	bytesPerNano := mbps * 1e6 / 8 / 1e9
	if burstBytes == 0 {
		burstBytes = max(bytesPerNano*defaultBurstNanos, minimumBurst)
	}
	return &policer{bytesPerNano: bytesPerNano, burst: burstBytes, tokens: burstBytes, last: now}
}

func (p *policer) allow(now int64, size int) bool {
	p.tokens = min(p.burst, p.tokens+float64(now-p.last)*p.bytesPerNano)
	p.last = now
	if p.tokens < float64(size) {
		return false
	}
	p.tokens -= float64(size)
	return true
}
