package serve

// QUICFacts are constants of a QUIC stack, for modelling it. Packets have the path's size.
type QUICFacts struct {
	Stack             string `json:"stack"`
	CongestionControl string `json:"congestionControl"`
	// InitialWindow and MinimumWindow are in packets.
	InitialWindow int `json:"initialWindow"`
	MinimumWindow int `json:"minimumWindow"`
	// LossFactor is the factor by which a congestion event multiplies the window.
	LossFactor float64 `json:"lossFactor"`
	// PacingFactor is the pacing rate in windows per smoothed round trip.
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

// QUIC describes quic-go 0.59.1 by its constants: internal/congestion (cubic_sender.go, in Reno mode as set by
// sent_packet_handler.go; pacer.go), internal/protocol/params.go and
// internal/utils/rtt_stats.go.
var QUIC = QUICFacts{
	Stack: "quic-go 0.59.1", CongestionControl: "reno",
	InitialWindow: 32, MinimumWindow: 2, LossFactor: 0.7,
	PacingFactor: 1.25, PacingBurst: 10,
	InitialPacketBytes: 1280, MaxPacketBytes: 1452,
	InitialRTTMs: 100, MaxAckDelayMs: 25,
	StreamWindowBytes: 512 << 10, MaxStreamWindowBytes: 6 << 20,
	ConnectionWindowBytes: 768 << 10, MaxConnectionWindowBytes: 15 << 20,
}
