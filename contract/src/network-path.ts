/**
 * The path's treatment of UDP: open, blocked, policed to a rate by a token bucket of depth `burstBytes` (if known), or lossier
 * than TCP (`loss` is the fraction per packet and direction on top of the path's).
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

/** Probabilities of UDP's treatments; they sum to 1. */
export interface UdpShares {
  open: number;
  policed: number;
  blocked: number;
}

/** The source of a figure. */
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

/** Fields of `NetworkPath` that a caller can give. Timings do not show `lossBurst`; counts of lost packets do. */
export type NetworkFigure = 'rttMs' | 'downBps' | 'upBps' | 'loss' | 'lossBurst' | 'queueBytes' | 'udp';

/**
 * A server's congestion control. `hybla` grows as fast over a long round trip as Reno over one of 25 ms. `quiche-cubic` undoes
 * reductions after sparse losses; over TCP it is `cubic`.
 */
export type CongestionControl = 'cubic' | 'reno' | 'bbr' | 'hybla' | 'quiche-cubic';

/** How a server sends over one transport. */
export interface SendingProfile {
  /** Initial congestion window, packets. */
  initialWindow: number;
  congestionControl: CongestionControl;
  /**
   * Path rate that the server assumes before it has measured any, bits per second, for instance signalled by the client. It then
   * begins with a paced window of this rate × round trip in place of `initialWindow`. No such assumption when absent.
   */
  startBps?: number;
}

/** What is known of one origin's server. */
export interface ServerProfile {
  /** `https://host[:port]`. */
  origin: string;
  /** Round trip beyond the path's, milliseconds. */
  extraRttMs: number;
  /** Median time from a request's last byte to the response's first, milliseconds. */
  thinkMs: number;
  /** How it sends over TCP. */
  tcp: SendingProfile;
  /** How it sends over QUIC. */
  quic: SendingProfile;
  /** TLS version that it negotiates over TCP. */
  tlsVersion: '1.2' | '1.3';
  /** Time to resolve its name, milliseconds, once for all connections to the host; 0 when absent. */
  dnsMs?: number;
  /** What its first connection takes besides that and its round trips, milliseconds, as where it accepts none for a while; 0 when absent. */
  openingDelayMs?: number;
  /** Whether TCP connections to it end near by, at a proxy or a tunnel, so that opening one takes no round trip of its own; false when absent. */
  tcpEndsNearby?: boolean;
  /** TLS sessions from an earlier visit, and whether requests may go as early data (Chromium sends it over QUIC only); none when absent. */
  session?: { tcp?: 'resumed' | 'early-data'; quic?: 'resumed' | 'early-data' };
  /** Whether requests leave with the client's Finished under TLS 1.2 (RFC 7918); `tlsVersion` 1.2 without it takes two round trips. */
  falseStart?: boolean;
  /** Additional round trips of its handshakes: HelloRetryRequest, QUIC's Retry and version negotiation; 0 when absent. */
  extraHandshakeRounds?: { tcp?: number; quic?: number };
  /**
   * How the browser learns that the origin offers h3: before the page load (`known`), from the HTTPS record beside the address
   * (RFC 9460), or from the `Alt-Svc` of its first response (RFC 7838). When absent, it uses h3 from the first request on but has
   * no other knowledge of the server.
   */
  h3Discovery?: 'known' | 'https-record' | 'alt-svc';
  /**
   * Whether its responses announce h3 by `Alt-Svc` (RFC 7838); assumed when absent. From the announcement Chromium learns that a
   * server which it only met over h3 multiplexes.
   */
  announcesH3?: boolean;
  /** How QUIC handshakes with it end; `open` when absent. After a refusal, or without an answer, the browser uses TCP. */
  quicHandshake?: 'open' | 'refused' | 'silent';
  /** Concurrent requests on a connection: SETTINGS_MAX_CONCURRENT_STREAMS and QUIC's stream credit; 100 each when absent. */
  maxStreams?: { h2?: number; h3?: number };
  /**
   * Origins of the same group have one address and a certificate that covers all of them, so they share HTTP/2 and HTTP/3
   * connections (RFC 9113 section 9.1.1, RFC 9114 section 3.3). No sharing when absent.
   */
  connectionGroup?: string;
  /**
   * Whether it follows the client's priorities (RFC 9218) rather than sending responses in turns. False when absent: nginx, Go's
   * net/http and quic-go ignore them, as do most hosts and CDNs on Davies and Meenan's public list of HTTP/2 tests
   * (andydavies/http2-prioritization-issues).
   */
  prioritises?: boolean;
  /** Protocols that it is known or assumed to offer. */
  offers: { h1: boolean; h2: boolean; h3: boolean };
}

/** Figures of the network that are certain; units as in `NetworkPath`. */
export type KnownNetwork = Partial<Pick<NetworkPath, NetworkFigure>>;

/** Figures of the network that real transfers beside the recording showed; units as in `NetworkPath`. */
export interface MeasuredNetwork extends Omit<KnownNetwork, 'loss' | 'lossBurst' | 'udp'> {
  /**
   * Loss events among packets sent downstream over TCP, drops at the bottleneck's queue included, and the packets that were
   * lost in these events, where they were counted. With `isRandom`, queue drops are left out.
   */
  loss?: { events: number; packets: number; lost?: number; isRandom?: boolean };
  /** `unblocked`: UDP packets arrived, but whether their rate is limited is not known. */
  udp?: UdpTreatment | { kind: 'unblocked' };
  /** Rate that transfers reached, bits per second: a lower bound of the downstream rate. */
  reachedBps?: number;
}

/** Known fields of one server; they replace those estimated from a recording. */
export type KnownServer = Partial<ServerProfile> & Pick<ServerProfile, 'origin'>;
