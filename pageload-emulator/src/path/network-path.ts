/** What the path does to UDP: lets it through, drops it, or caps its rate. */
export type UdpTreatment = { kind: 'open' } | { kind: 'blocked' } | { kind: 'policed'; bps: number };

/** Where a figure came from. */
export type FigureSource = 'given' | 'estimated' | 'measured' | 'assumed';

/** The shared path between the browser and the servers. */
export interface NetworkPath {
  /** Round trip without queueing to the nearest origin. */
  rttMs: number;
  downBps: number;
  upBps: number;
  /** Random loss per packet and direction, apart from queue drops. */
  loss: number;
  /** Mean length of a burst of losses in packets; 1 for independent losses. */
  lossBurst: number;
  /** Drop-tail queue of the bottleneck, downstream. */
  queueBytes: number;
  udp: UdpTreatment;
}

/** Names of the fields of `NetworkPath` that a caller can give. An estimator fills all but `lossBurst`, of which a recording says nothing. */
export type NetworkFigure = 'rttMs' | 'downBps' | 'upBps' | 'loss' | 'lossBurst' | 'queueBytes' | 'udp';

export type CongestionControl = 'cubic' | 'reno' | 'bbr';

/** What one origin's server does, as far as known. */
export interface ServerProfile {
  origin: string;
  /** Round trip beyond the path's. */
  extraRttMs: number;
  /** Request's last byte to response's first, median. */
  thinkMs: number;
  tcp: { initialWindow: number; congestionControl: CongestionControl };
  quic: { initialWindow: number; congestionControl: CongestionControl };
  tlsVersion: '1.2' | '1.3';
  /** Time to resolve its name before the first connection; 0 when absent. */
  dnsMs?: number;
  /**
   * Whether it sends responses by the client's priorities (RFC 9218) rather than in turns; it does not
   * when absent: nginx, Go's net/http and quic-go do not, nor do most of the hosts and CDNs on
   * Davies and Meenan's public list of HTTP/2 tests (andydavies/http2-prioritization-issues).
   */
  prioritises?: boolean;
  /** Protocols that it is known to speak, or may be assumed to. */
  offers: { h1: boolean; h2: boolean; h3: boolean };
}
