import * as z from 'zod/mini';
import { count, httpsUrl, nonNegative, protocolSchema as protocol, text } from './schemas.ts';
import { MAX_ASSIGNMENTS, plannedAssignmentSchema } from './transfer-plan.ts';

/** One resource of one round. Times are milliseconds after the round's start; null for phases that did not take place. */
const transferResult = z.object({
  /** Index into the plan. */
  index: count,
  /** The protocol of the response; null when there was none. */
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
  /** libcurl's error message, '' on success. */
  error: text(512),
});

const probeRound = z.object({
  /** First request to last byte of what the load event waits for. */
  totalMs: nonNegative,
  bytes: count,
  failed: count,
  /**
   * From TCP_INFO of the round's connections: minimum RTT, runs of lost packets, received segments with data, retransmitted
   * segments. null on HTTP/3, as libcurl reports nothing about QUIC connections.
   */
  minRttMs: z.nullable(nonNegative),
  lossEvents: z.nullable(count),
  segmentsIn: z.nullable(count),
  retransmitted: z.nullable(count),
  transfers: z.array(transferResult),
});

const verifiedProtocol = z.object({
  /** '' when the protocol carried the page; else the reason why not, for the user. */
  unavailable: text(512),
  rounds: z.array(probeRound),
  medianMs: z.nullable(nonNegative),
  lowMs: z.nullable(nonNegative),
  highMs: z.nullable(nonNegative),
  /** Requests answered under the intended protocol, and all that were answered. */
  provedRequests: count,
  answeredRequests: count,
});

/** Rounds with the origins on the protocols of an assignment. */
const verifiedAssignment = z.extend(verifiedProtocol, plannedAssignmentSchema.shape);

/** An offer of HTTP/3 in an `Alt-Svc` field (RFC 7838). */
const altSvcOffer = z.object({
  /** '' for the origin's own host. */
  host: text(256),
  port: z.int().check(z.gte(1), z.lte(65_535)),
  maxAgeS: count,
});

/** An origin's HTTPS record (RFC 9460): the one that offers HTTP/3, else the most preferred. */
const httpsRecord = z.object({
  /** `unknown`: no resolver answered in time. */
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

/** Figures of the TCP connections to an origin in all rounds, from TCP_INFO. */
const tcpFigures = z.object({
  connections: count,
  minRttMs: nonNegative,
  /** Median of the smoothed round trips at the connections' ends: queues included. */
  rttMs: z.nullable(nonNegative),
  /** Segments with data, in each direction. */
  segmentsIn: count,
  segmentsOut: count,
  /** Runs of lost packets, seen as gaps in the received data. */
  lossEvents: count,
  /** Retransmitted segments. */
  retransmitted: count,
  /** Highest delivery rate of sent data, bits per second; null where too little was sent. */
  sendingBps: z.nullable(nonNegative),
});

/** Losses over TCP while the bottleneck's queue was far from full, so that it dropped none of them. */
const randomLoss = z.object({
  /** Packets sent to the client meanwhile. */
  packets: count,
  /** Runs of lost packets, and the packets lost in them. */
  events: count,
  lost: count,
});

/** Figures of QUIC connections: libcurl reports neither their round trips nor their losses. */
const quicFigures = z.object({
  connections: count,
  /** Shortest handshake, which takes at least one round trip. */
  rttAtMostMs: nonNegative,
});

const verifiedOrigin = z.object({
  /** Is the origin of a URL of the plan, whatever its length. */
  origin: text(8192),
  /** Why it cannot be reached over TCP, '' when it can. */
  unreachable: text(512),
  h3Offered: z.object({ altSvc: z.array(altSvcOffer).check(z.maxLength(8)), httpsRecord }),
  /** Whether it answered under the protocol; null where that was not attempted. */
  speaks: z.object({ h2: z.nullable(z.boolean()), h3: z.nullable(z.boolean()) }),
  tcp: z.nullable(tcpFigures),
  quic: z.nullable(quicFigures),
});

/** The path's treatment of UDP, judged by HTTP/3 against HTTP/2 on the same responses of the same origins. */
const udpVerdict = z.object({
  verdict: z.enum(['open', 'blocked', 'policed', 'unknown']),
  /** The verdict's reason, one line for the user. */
  reason: text(512),
  /** Whether a QUIC connection was established; null where none was attempted. */
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

/** The results of real transfers of a page's resources. */
export const verificationSchema = z.object({
  pageUrl: httpsUrl,
  engine: text(256),
  startedAt: text(32),
  protocols: z.partialRecord(protocol, verifiedProtocol),
  /**
   * Those requested assignments that differ from one protocol for every origin, see `areSameRounds`. Absent in
   * verifications by helpers that know no assignments.
   */
  assignments: z.optional(z.array(verifiedAssignment).check(z.maxLength(MAX_ASSIGNMENTS))),
  /** In order of first use. */
  origins: z.array(verifiedOrigin),
  /** Absent with too few packets, without TCP_INFO, and in verifications by helpers that do not count it. */
  randomLoss: z.optional(randomLoss),
  udp: udpVerdict,
  bytes: count,
  /** Limit of `bytes`. */
  budgetBytes: count,
  /** Resources left out of every round to stay within the budget. */
  leftOut: count,
  /** Why the probe ended before its last round, for the user; absent when it did not. */
  stopped: z.optional(text(512)),
});

export type Verification = z.infer<typeof verificationSchema>;
export type VerifiedOrigin = z.infer<typeof verifiedOrigin>;
export type UdpVerdict = z.infer<typeof udpVerdict>;
export type VerifiedAssignment = z.infer<typeof verifiedAssignment>;
export type VerifiedProtocol = z.infer<typeof verifiedProtocol>;
