import * as z from 'zod/mini';
import { count, httpsUrl, nonNegative, protocolSchema as protocol, text } from './schemas.ts';

/** One resource of one round. Milliseconds after the round's start; null where it did not take place. */
const transferResult = z.object({
  /** Index into the plan. */
  index: count,
  /** What libcurl reports; null when no response came. */
  protocol: z.nullable(protocol),
  status: z.int(),
  bytes: count,
  startMs: nonNegative,
  dnsMs: z.nullable(nonNegative),
  connectMs: z.nullable(nonNegative),
  handshakeMs: z.nullable(nonNegative),
  firstByteMs: z.nullable(nonNegative),
  endMs: nonNegative,
  newConnection: z.boolean(),
  /** libcurl's words, '' on success. */
  error: text(512),
});

const probeRound = z.object({
  /** First request to last byte of what the load event waits for. */
  totalMs: nonNegative,
  bytes: count,
  failed: count,
  /**
   * TCP_INFO of the round's connections; null on HTTP/3, of whose connections libcurl tells nothing. Minimum RTT, holes in what
   * arrived, segments with data that arrived, segments that had to be sent again.
   */
  minRttMs: z.nullable(nonNegative),
  lossEvents: z.nullable(count),
  segmentsIn: z.nullable(count),
  retransmitted: z.nullable(count),
  transfers: z.array(transferResult),
});

const verifiedProtocol = z.object({
  /** '' when the protocol carried the page; else why it did not, in words for a person. */
  unavailable: text(512),
  rounds: z.array(probeRound),
  medianMs: z.nullable(nonNegative),
  lowMs: z.nullable(nonNegative),
  highMs: z.nullable(nonNegative),
  /** Requests answered under this protocol, of all that were answered. */
  provedRequests: count,
  answeredRequests: count,
});

/** An offer of HTTP/3 in an `Alt-Svc` field (RFC 7838). */
const altSvcOffer = z.object({
  /** '' for the origin's own host. */
  host: text(256),
  port: z.int().check(z.gte(1), z.lte(65_535)),
  maxAgeS: count,
});

/** An origin's HTTPS record (RFC 9460): of several the one that offers HTTP/3, else the most preferred. */
const httpsRecord = z.object({
  /** `unknown`: nobody answered, or not in time. */
  state: z.enum(['present', 'absent', 'unknown']),
  alpn: z.array(text(32)).check(z.maxLength(32)),
  /** null for the URL's. */
  port: z.nullable(z.int().check(z.gte(0), z.lte(65_535))),
  /** '' for the origin's own host. */
  target: text(256),
  /** Whether it has keys for an encrypted ClientHello. */
  ech: z.boolean(),
  /** Why it is unknown, '' when it is not. */
  detail: text(256),
});

/** What the TCP connections to an origin went through in all rounds, by TCP_INFO. */
const tcpFigures = z.object({
  connections: count,
  minRttMs: nonNegative,
  /** Median of the smoothed round trips at the connections' ends: queues included. */
  rttMs: z.nullable(nonNegative),
  /** Segments with data, each way. */
  segmentsIn: count,
  segmentsOut: count,
  /** Holes in what arrived: losses in one flight are one. */
  lossEvents: count,
  /** Segments that had to be sent again. */
  retransmitted: count,
  /** Highest rate at which what was sent was acknowledged, bits per second; null where too little was sent to tell. */
  sendingBps: z.nullable(nonNegative),
});

/** What can be known of QUIC connections: libcurl hands out neither their round trips nor their losses. */
const quicFigures = z.object({
  connections: count,
  /** Shortest handshake, which takes at least one round trip. */
  rttAtMostMs: nonNegative,
});

const verifiedOrigin = z.object({
  /** Of a URL of the plan, whatever its length. */
  origin: text(8192),
  /** Why it cannot be reached over TCP, '' when it can. */
  unreachable: text(512),
  h3Offered: z.object({ altSvc: z.array(altSvcOffer).check(z.maxLength(8)), httpsRecord }),
  /** What it answered under when asked: null where it was not. */
  speaks: z.object({ h2: z.nullable(z.boolean()), h3: z.nullable(z.boolean()) }),
  tcp: z.nullable(tcpFigures),
  quic: z.nullable(quicFigures),
});

/** What the path does to UDP, judged by HTTP/3 against HTTP/2 on the same responses of the same origins. */
const udpVerdict = z.object({
  verdict: z.enum(['open', 'blocked', 'policed', 'unknown']),
  /** The verdict's reason, one line for a person. */
  reason: text(512),
  /** Whether a QUIC connection came about; null where none was tried. */
  answered: z.nullable(z.boolean()),
  /** Median goodput while responses were awaited or arrived, bits per second; null where it was not compared. */
  quicBps: z.nullable(nonNegative),
  tcpBps: z.nullable(nonNegative),
  /** QUIC's rate over TCP's: geometric mean of the rounds with its 95% interval. */
  ratio: z.nullable(z.object({ low: nonNegative, mean: nonNegative, high: nonNegative })),
  /** Pairs of rounds that were compared, and the response bytes of each round that were. */
  pairs: count,
  bytes: count,
});

/** What real transfers of a page's resources showed. */
export const verificationSchema = z.object({
  pageUrl: httpsUrl,
  engine: text(256),
  startedAt: text(32),
  protocols: z.partialRecord(protocol, verifiedProtocol),
  /** In order of first use. */
  origins: z.array(verifiedOrigin),
  udp: udpVerdict,
  bytes: count,
  /** What `bytes` had to stay within. */
  budgetBytes: count,
  /** Resources that were left out of every round to stay within it. */
  leftOut: count,
  /** Why the probe ended before its last round, in words for a person; absent when it did not. */
  stopped: z.optional(text(512)),
});

export type Verification = z.infer<typeof verificationSchema>;
export type VerifiedOrigin = z.infer<typeof verifiedOrigin>;
export type UdpVerdict = z.infer<typeof udpVerdict>;
export type VerifiedProtocol = z.infer<typeof verifiedProtocol>;
