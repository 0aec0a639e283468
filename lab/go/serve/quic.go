package serve

import "hopwise/lab/site"

// Stacks describes the servers' transports.
type Stacks struct {
	// TCP is the server of HTTP/1.1 and HTTP/2; the kernel is its transport.
	TCP TCPFacts `json:"tcp"`
	// QUIC is null where no origin offers HTTP/3 and its server does not run.
	QUIC *QUICFacts `json:"quic"`
}

// TCPFacts name a server.
type TCPFacts struct {
	Stack string `json:"stack"`
}

var goStacks = Stacks{TCP: TCPFacts{Stack: "Go net/http"}, QUIC: &QUIC}

// QUICFacts are constants of a QUIC stack, for modelling it. Packets have the path's size.
type QUICFacts struct {
	Stack             string `json:"stack"`
	CongestionControl string `json:"congestionControl"`
	// InitialWindow and MinimumWindow are in packets.
	InitialWindow int `json:"initialWindow"`
	MinimumWindow int `json:"minimumWindow"`
	// LossFactor is the factor by which a congestion event multiplies the window; 0 for BBR, which has none.
	LossFactor float64 `json:"lossFactor"`
	// PacingFactor is the pacing rate in windows per smoothed round trip; 0 where packets are not paced by the window.
	PacingFactor float64 `json:"pacingFactor"`
	// PacingBurst is the number of packets sent at once.
	PacingBurst int `json:"pacingBurst"`
	// InitialPacketBytes grow by path MTU discovery to at most MaxPacketBytes, without IP and UDP headers.
	InitialPacketBytes int `json:"initialPacketBytes"`
	MaxPacketBytes     int `json:"maxPacketBytes"`
	// InitialRTTMs is assumed until there is a measurement.
	InitialRTTMs  float64 `json:"initialRttMs"`
	MaxAckDelayMs float64 `json:"maxAckDelayMs"`
	// Flow control windows for data from the client, initial and maximum.
	StreamWindowBytes        int `json:"streamWindowBytes"`
	MaxStreamWindowBytes     int `json:"maxStreamWindowBytes"`
	ConnectionWindowBytes    int `json:"connectionWindowBytes"`
	MaxConnectionWindowBytes int `json:"maxConnectionWindowBytes"`
}

// QUIC describes quic-go 0.61.0 by its constants: internal/congestion (cubic_sender.go, in Reno mode as set by
// sent_packet_handler.go; pacer.go), internal/protocol/params.go and
// internal/utils/rtt_stats.go.
var QUIC = QUICFacts{
	Stack: "quic-go 0.61.0", CongestionControl: "reno",
	InitialWindow: 32, MinimumWindow: 2, LossFactor: 0.7,
	PacingFactor: 1.25, PacingBurst: 10,
	InitialPacketBytes: 1280, MaxPacketBytes: 1452,
	InitialRTTMs: 100, MaxAckDelayMs: 25,
	StreamWindowBytes: 512 << 10, MaxStreamWindowBytes: 6 << 20,
	ConnectionWindowBytes: 768 << 10, MaxConnectionWindowBytes: 15 << 20,
}

// quicheFacts describes quiche 0.30 as hopwise-quiche configures it, by its constants (recovery/mod.rs, recovery/congestion,
// recovery/gcongestion, stream/mod.rs and lib.rs), for origins with these settings.
func quicheFacts(stack string, settings site.Settings) *QUICFacts {
	facts := &QUICFacts{
		Stack: stack, CongestionControl: settings.CongestionControl, InitialWindow: settings.InitialWindow,
		MinimumWindow: 2, InitialPacketBytes: 1200, MaxPacketBytes: 1452, InitialRTTMs: 333, MaxAckDelayMs: 25,
		StreamWindowBytes: 512 << 10, MaxStreamWindowBytes: 16 << 20,
		ConnectionWindowBytes: 768 << 10, MaxConnectionWindowBytes: 24 << 20,
	}
	switch settings.CongestionControl {
	case "cubic":
		facts.LossFactor = 0.7
	case "reno":
		facts.LossFactor = 0.5
	case "bbr":
		// BBRv2 alone paces, at its own estimate of the bandwidth.
		facts.MinimumWindow, facts.PacingBurst = settings.InitialWindow, 10
	}
	return facts
}

func (f *fronts) stacks(settings site.Settings) Stacks {
	found := Stacks{TCP: TCPFacts{Stack: "nginx " + f.nginxVersion}}
	if f.quicheStack != "" {
		found.QUIC = quicheFacts(f.quicheStack, settings)
	}
	return found
}
