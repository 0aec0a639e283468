package link

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Network describes the emulated path, both directions.
//
// Rates count whole IP packets. Loss is a fraction per packet and direction.
type Network struct {
	// RTTMs is the round trip without queueing, half of it in each direction.
	RTTMs    float64 `json:"rttMs"`
	DownMbps float64 `json:"downMbps"`
	UpMbps   float64 `json:"upMbps"`
	// Loss is the mean random loss; lost packets still use the queue and the wire.
	Loss float64 `json:"loss"`
	// LossBurst is the mean run of lost packets; 1 stands for independent losses.
	LossBurst float64 `json:"lossBurst"`
	Queue     Queue   `json:"queue"`
	UDP       UDP     `json:"udp"`
	// UDPLoss is additional independent loss of UDP packets.
	UDPLoss float64 `json:"udpLoss"`
	// JitterMs is the upper end of an additional uniform delay; packets of one server keep their order.
	JitterMs float64 `json:"jitterMs"`
	Reorder  Reorder `json:"reorder"`
	// Seed restarts the random generators and the packet numbers; when absent, they continue.
	Seed *uint64 `json:"seed,omitempty"`
}

// Queue is the limit of the drop-tail queue in front of the serialiser. Exactly one field is set.
type Queue struct {
	Bytes float64 `json:"bytes,omitempty"`
	// Ms is the time that the full queue takes to drain at the direction's rate.
	Ms float64 `json:"ms,omitempty"`
	// BDP is a multiple of the direction's rate times the round trip.
	BDP float64 `json:"bdp,omitempty"`
}

// Reorder holds a fraction of the packets back for DelayMs while others overtake them.
type Reorder struct {
	Rate    float64 `json:"rate"`
	DelayMs float64 `json:"delayMs"`
}

// UDP is the path's treatment of UDP: "open", "blocked" (silently dropped), or a token-bucket
// policer with one bucket per direction.
type UDP struct {
	Blocked      bool
	PolicedMbps  float64
	BurstBytes   float64
	policerIsSet bool
}

type policedUDP struct {
	PolicedMbps float64 `json:"policedMbps"`
	BurstBytes  float64 `json:"burstBytes,omitempty"`
}

// UnmarshalJSON reads "open", "blocked" or {"policedMbps": N, "burstBytes": N}.
func (u *UDP) UnmarshalJSON(text []byte) error {
	*u = UDP{}
	var word string
	if json.Unmarshal(text, &word) == nil {
		switch word {
		case "open":
			return nil
		case "blocked":
			u.Blocked = true
			return nil
		}
		return fmt.Errorf(`udp: expected "open", "blocked" or {"policedMbps": N}, got %q`, word)
	}
	var policed policedUDP
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&policed) != nil {
		return fmt.Errorf(`udp: expected "open", "blocked" or {"policedMbps": N}, got %.60s`, text)
	}
	u.PolicedMbps, u.BurstBytes, u.policerIsSet = policed.PolicedMbps, policed.BurstBytes, true
	return nil
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (u UDP) MarshalJSON() ([]byte, error) {
	switch {
	case u.Blocked:
		return []byte(`"blocked"`), nil
	case u.PolicedMbps > 0:
		return json.Marshal(policedUDP{u.PolicedMbps, u.BurstBytes})
	}
	return []byte(`"open"`), nil
}

// ParseNetwork reads and checks a network; an error is one line that names the entry.
func ParseNetwork(text []byte) (Network, error) {
	network := Network{LossBurst: 1}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&network); err != nil {
		return Network{}, fmt.Errorf("network: %s", jsonReason(err))
	}
	if network.Queue == (Queue{}) {
		network.Queue.BDP = 1
	}
	return network, network.Validate()
}

func jsonReason(err error) string {
	if wrong, ok := err.(*json.UnmarshalTypeError); ok {
		return fmt.Sprintf("%s: expected a %s, got a %s", wrong.Field, wrong.Type, wrong.Value)
	}
	return err.Error()
}

// Validate checks each figure's range.
func (n Network) Validate() error {
	for _, figure := range []struct {
		name     string
		value    float64
		low      float64
		high     float64
		expected string
	}{
		{"rttMs", n.RTTMs, 0, 60_000, "0 to 60000"},
		{"downMbps", n.DownMbps, 0.001, 10_000, "0.001 to 10000"},
		{"upMbps", n.UpMbps, 0.001, 10_000, "0.001 to 10000"},
		{"loss", n.Loss, 0, 0.9, "a fraction from 0 to 0.9"},
		{"lossBurst", n.LossBurst, 1, 1000, "1 to 1000 packets"},
		{"udpLoss", n.UDPLoss, 0, 1, "a fraction from 0 to 1"},
		{"jitterMs", n.JitterMs, 0, 60_000, "0 to 60000"},
		{"reorder.rate", n.Reorder.Rate, 0, 1, "a fraction from 0 to 1"},
		{"reorder.delayMs", n.Reorder.DelayMs, 0, 60_000, "0 to 60000"},
		{"queue.bytes", n.Queue.Bytes, 0, 1 << 30, "0 to 1073741824"},
		{"queue.ms", n.Queue.Ms, 0, 60_000, "0 to 60000"},
		{"queue.bdp", n.Queue.BDP, 0, 1000, "0 to 1000"},
		{"udp.burstBytes", n.UDP.BurstBytes, 0, 1 << 30, "0 to 1073741824"},
	} {
		// Negated, so that NaN is refused too.
		if !(figure.value >= figure.low && figure.value <= figure.high) {
			return fmt.Errorf("network: %s: expected %s, got %v", figure.name, figure.expected, figure.value)
		}
	}
	if n.UDP.policerIsSet && !(n.UDP.PolicedMbps >= 0.001 && n.UDP.PolicedMbps <= 10_000) {
		return fmt.Errorf("network: udp.policedMbps: expected 0.001 to 10000, got %v", n.UDP.PolicedMbps)
	}
	if n.LossBurst > 1 && n.Loss > n.LossBurst/(n.LossBurst+1) {
		return fmt.Errorf("network: loss: expected at most %.3f with bursts of %v packets, got %v",
			n.LossBurst/(n.LossBurst+1), n.LossBurst, n.Loss)
	}
	limits := 0
	for _, limit := range []float64{n.Queue.Bytes, n.Queue.Ms, n.Queue.BDP} {
		if limit > 0 {
			limits++
		}
	}
	if limits != 1 {
		return fmt.Errorf("network: queue: expected exactly one of bytes, ms, bdp above 0, got %d", limits)
	}
	return nil
}

// queueLimitBytes is the queue's limit for a direction of the given rate.
func (n Network) queueLimitBytes(bitsPerSecond float64) int64 {
	switch {
	case n.Queue.Bytes > 0:
		return int64(n.Queue.Bytes)
	case n.Queue.Ms > 0:
		return int64(math.Ceil(bitsPerSecond / 8 * n.Queue.Ms / 1000))
	default:
		return int64(math.Ceil(bitsPerSecond / 8 * n.Queue.BDP * n.RTTMs / 1000))
	}
}
