package link

import "math/bits"

// histogram counts durations in nanoseconds in buckets at most 1/16 wide relative to their value.
// It never allocates.
type histogram struct {
	counts [61 * subBuckets]uint64
	total  uint64
	sum    int64
	max    int64
}

const (
	subBucketBits = 4
	subBuckets    = 1 << subBucketBits
)

func bucketOf(value int64) int {
	if value < subBuckets {
		return int(max(value, 0))
	}
	shift := bits.Len64(uint64(value)) - 1 - subBucketBits
	return (shift+1)*subBuckets + int(value>>shift) - subBuckets
}

// bucketTop is the largest value in a bucket.
func bucketTop(bucket int) int64 {
	if bucket < subBuckets {
		return int64(bucket)
	}
	shift := bucket/subBuckets - 1
	return (int64(subBuckets+bucket%subBuckets)+1)<<shift - 1
}

func (h *histogram) add(nanos int64) {
	h.counts[bucketOf(nanos)]++
	h.total++
	h.sum += nanos
	h.max = max(h.max, nanos)
}

// quantile is an upper bound of the value at the fraction, at most 1/16 too large.
func (h *histogram) quantile(fraction float64) int64 {
	if h.total == 0 {
		return 0
	}
	rank := uint64(fraction * float64(h.total))
	var seen uint64
	for bucket, count := range h.counts {
		seen += count
		if seen > rank {
			return min(bucketTop(bucket), h.max)
		}
	}
	return h.max
}

func (h *histogram) summary() DurationSummary {
	summary := DurationSummary{Max: millis(h.max), P99: millis(h.quantile(0.99)), P50: millis(h.quantile(0.5))}
	if h.total > 0 {
		summary.Mean = millis(h.sum) / float64(h.total)
	}
	return summary
}

// DurationSummary gives milliseconds.
type DurationSummary struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

func millis(nanos int64) float64 { return float64(nanos) / 1e6 }
