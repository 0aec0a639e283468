/**
 * What the path does to UDP: lets it through, drops it, caps its rate by a token bucket of `burstBytes` (where it
 * is known), or loses more of it than of TCP (`loss` is the fraction per packet and direction on top of the path's).
 */
export type UdpTreatment =
  | { kind: 'open' }
  | { kind: 'blocked' }
  | { kind: 'policed'; bps: number; burstBytes?: number }
  | { kind: 'lossy'; loss: number };

/**
 * A treatment of UDP as JSON and command lines write it: `open`, `blocked`, the rate in Mbit/s to which UDP is held, or
 * `lossy` where it loses more than TCP does (which an estimate may find and a caller cannot give).
 */
export type UdpNotation = 'open' | 'blocked' | 'lossy' | number;

/** Probabilities of UDP's treatment; they sum to 1. */
export interface UdpShares {
  open: number;
  policed: number;
  blocked: number;
}

/** Where a figure came from. */
export type FigureSource = 'given' | 'estimated' | 'measured' | 'assumed';

/** The shared path between the browser and the servers. */
export interface NetworkPath {
  /** Round trip without queueing to the nearest origin, milliseconds. */
  rttMs: number;
  /** Rate of the bottleneck downstream, bits per second. */
  downBps: number;
  /** Rate of the bottleneck upstream, bits per second. */
  upBps: number;
  /** Random loss per packet and direction, a fraction, apart from queue drops. */
  loss: number;
  /** Mean length of a burst of losses in packets; 1 for independent losses. */
  lossBurst: number;
  /** Drop-tail queue of the bottleneck, downstream, bytes. */
  queueBytes: number;
  udp: UdpTreatment;
}

/** Names of the fields of `NetworkPath` that a caller can give. An estimator fills all but `lossBurst`, of which a recording says nothing. */
export type NetworkFigure = 'rttMs' | 'downBps' | 'upBps' | 'loss' | 'lossBurst' | 'queueBytes' | 'udp';

/** `hybla` grows as fast over a long round trip as Reno over one of 25 ms. */
export type CongestionControl = 'cubic' | 'reno' | 'bbr' | 'hybla';

/** How a server begins to send, and goes on. */
export interface SendingProfile {
  /** Packets. */
  initialWindow: number;
  congestionControl: CongestionControl;
  /**
   * Rate that the server takes the path to carry before it has measured any, bits per second, as when the client
   * told it: it begins with a window of this × round trip, paced, in place of `initialWindow`. Not known when absent.
   */
  startBps?: number;
}

/** What one origin's server does, as far as known. */
export interface ServerProfile {
  /** `https://host[:port]`. */
  origin: string;
  /** Round trip beyond the path's, milliseconds. */
  extraRttMs: number;
  /** Request's last byte to response's first, median, milliseconds. */
  thinkMs: number;
  /** How it sends over TCP. */
  tcp: SendingProfile;
  /** How it sends over QUIC. */
  quic: SendingProfile;
  /** That it negotiates over TCP. */
  tlsVersion: '1.2' | '1.3';
  /** Time to resolve its name, once for all of a host's connections; 0 when absent. */
  dnsMs?: number;
  /** TLS sessions that an earlier visit left, and whether requests may go as early data (Chromium sends it over QUIC alone); none when absent. */
  session?: { tcp?: 'resumed' | 'early-data'; quic?: 'resumed' | 'early-data' };
  /** Whether requests leave with the client's Finished under TLS 1.2 (RFC 7918); `tlsVersion` 1.2 without it takes two round trips. */
  falseStart?: boolean;
  /** Round trips that its handshakes take beyond: HelloRetryRequest, QUIC's Retry and version negotiation; 0 when absent. */
  extraHandshakeRounds?: { tcp?: number; quic?: number };
  /**
   * How a browser that is to use h3 comes to know that it can: it knew before the page (`known`), from the HTTPS record beside
   * the address (RFC 9460), or from the `Alt-Svc` of its first response (RFC 7838). When absent it uses h3 from the first request
   * on, but knows nothing else of the server.
   */
  h3Discovery?: 'known' | 'https-record' | 'alt-svc';
  /** What becomes of QUIC handshakes with it; `open` when absent. A browser that was refused or hears nothing uses TCP. */
  quicHandshake?: 'open' | 'refused' | 'silent';
  /** Requests under way at once on a connection: SETTINGS_MAX_CONCURRENT_STREAMS and QUIC's stream credit; 100 each when absent. */
  maxStreams?: { h2?: number; h3?: number };
  /**
   * Origins of the same group are served at one address by a certificate that covers all: they share HTTP/2 and
   * HTTP/3 connections (RFC 9113 section 9.1.1, RFC 9114 section 3.3). Alone when absent.
   */
  connectionGroup?: string;
  /**
   * Whether it sends responses by the client's priorities (RFC 9218) rather than in turns; it does not
   * when absent: nginx, Go's net/http and quic-go do not, nor do most of the hosts and CDNs on
   * Davies and Meenan's public list of HTTP/2 tests (andydavies/http2-prioritization-issues).
   */
  prioritises?: boolean;
  /** Protocols that it is known to speak, or may be assumed to. */
  offers: { h1: boolean; h2: boolean; h3: boolean };
}
