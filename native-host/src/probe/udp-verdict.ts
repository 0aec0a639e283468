/** Whether the path lets UDP through, blocks it or polices its rate. */
import { median, normalCdf, type UdpVerdict } from '@hopwise/contract';
import type { RoundResult } from './round-result.ts';

type Transfer = RoundResult['transfers'][number];

/** The input of the verdict. */
export interface UdpEvidence {
  /** Why HTTP/3 was not attempted at all, for the user. */
  untried: string;
  /** For each origin requested under HTTP/3: whether a connection was established. */
  tried: readonly boolean[];
  /** Why servers refuse HTTP/3, which shows that UDP reaches them; '' where none does. */
  refused: string;
  h2: readonly RoundResult[];
  h3: readonly RoundResult[];
  /** The origin of a resource, by its index in the plan. */
  originOf: (index: number) => string;
}

/**
 * Bytes of a round below which rates show the handshakes' and single losses' luck more than the path. Rounds are not added up: each
 * begins on new connections, and ends before it meets a policer with a larger burst.
 */
export const MIN_BYTES = 200_000;
/** Below this many, slow start takes most of a transfer: at the web's usual initial windows (RFC 6928) TCP needs five round trips. */
const MANY_BYTES = 400_000;
/** Bytes from which an origin is judged by itself. */
const ORIGIN_BYTES = 100_000;
/**
 * The ratio of QUIC's to TCP's rate that separates the verdicts. On the pages and networks that it was tuned on, quic-go had at least
 * 0.5 times the rate of Linux's TCP where UDP was open, at least 0.7 with little loss, and less than 0.4 behind a policer at an
 * eighth of the link's rate (`npm run bench -- udp`).
 */
const LIMIT = 0.6;
/** Above this rate the processor limits QUIC, while TCP is offloaded to the kernel and the network card; pages hardly gain from more. */
const FAST_BPS = 40e6;
/**
 * Minimum standard deviation of the logarithm of one pair's ratio: with hardly any random loss; with few bytes; and where TCP met more
 * than one loss in 400 segments, each of which can halve the window of either protocol.
 */
const MIN_SPREAD = 0.2;
const FEW_SPREAD = 0.3;
const LOSSY_SPREAD = 0.45;
const LOSSY_FROM = 1 / 400;
/** Standard errors to either side of a 95% interval. */
const REACH = 1.96;

/** Probability of a policer before anything is measured; assumed. */
const POLICED_PRIOR = 0.1;
/** A policer leaves QUIC between this share of TCP's rate and `LIMIT`, with a log-uniform distribution; assumed. */
const MIN_POLICED_SHARE = 0.02;
/** A verdict is certain from this probability on. */
const CERTAIN = 0.95;

interface Rates {
  quicBps: number;
  tcpBps: number;
  bytes: number;
}

/** Judges UDP. Rates are compared response by response, so that a slow server affects both sides alike. */
export function udpVerdict(evidence: UdpEvidence): UdpVerdict {
  const { tried, untried, refused, originOf } = evidence;
  if (tried.length === 0) return verdict('unknown', null, untried);
  if (!tried.includes(true)) {
    if (refused !== '') return verdict('unknown', false, refused);
    return verdict('blocked', false, 'HTTP/3 is offered, but no connection is established');
  }
  const pairs = pairsOf(evidence);
  const rates = pairs.flatMap((pair) => ratesOf(pair, originOf) ?? []);
  if (rates.length === 0) {
    return verdict('unknown', true, 'UDP gets through; there are no responses under both HTTP/2 and HTTP/3');
  }
  const ratio = intervalOf(rates, evidence.h2);
  // Between two rounds there may be half a byte.
  const bytes = Math.round(median(rates.map((each) => each.bytes)));
  const compared = {
    quicBps: median(rates.map(({ quicBps }) => quicBps)),
    tcpBps: median(rates.map(({ tcpBps }) => tcpBps)),
    ratio,
    pairs: rates.length,
    bytes,
  };
  const conclude = (which: UdpVerdict['verdict'], reason: string): UdpVerdict => ({
    ...verdict(which, true, reason),
    ...compared,
  });
  if (bytes < MIN_BYTES) {
    const needed = `${MIN_BYTES / 1000} kB`;
    return conclude(
      'unknown',
      `UDP gets through; ${kB(bytes)} under both are too few to judge its rate: ${needed} are needed`,
    );
  }
  const share = `HTTP/3 carries ${percent(ratio.mean)} (${percent(ratio.low)} to ${percent(ratio.high)}) of HTTP/2's rate`;
  const policed = policedProbability(ratio);
  if (policed <= 1 - CERTAIN) return conclude('open', `UDP is as free as TCP: ${share}`);
  if (policed < CERTAIN)
    return conclude('unknown', `UDP gets through, but how fast is not certain: ${share}`);
  if (compared.quicBps > FAST_BPS) {
    return conclude(
      'unknown',
      `UDP gets through, and fast: what slows HTTP/3 down may be this machine: ${share}`,
    );
  }
  // A policer affects all origins; one server with a slow HTTP/3 does not slow the others.
  const free = freeOrigin(pairs, originOf);
  if (free !== null)
    return conclude('unknown', `HTTP/3 is slow, but not from ${free}, so not for the network: ${share}`);
  return conclude('policed', `UDP is policed to a lower rate: ${share}`);
}

/**
 * Probability of a policer by Bayes' rule: without one the logarithm of the ratio is normal around that of 1, with the spread of the
 * interval; with one it is uniform from `MIN_POLICED_SHARE` to `LIMIT`, and measured with the same spread.
 */
function policedProbability({ low, mean, high }: NonNullable<UdpVerdict['ratio']>): number {
  const spread = Math.log(high / low) / (2 * REACH);
  const log = Math.log(mean);
  // Without a policer, UDP that is faster than TCP is no less likely than UDP that is just as fast.
  const deviation = Math.min(0, log) / spread;
  const open = Math.exp(-(deviation ** 2) / 2) / (spread * Math.sqrt(2 * Math.PI));
  const below = (share: number) => normalCdf((Math.log(share) - log) / spread);
  const limited = (below(LIMIT) - below(MIN_POLICED_SHARE)) / Math.log(LIMIT / MIN_POLICED_SHARE);
  const joint = POLICED_PRIOR * limited;
  return joint / (joint + (1 - POLICED_PRIOR) * open);
}

function verdict(which: UdpVerdict['verdict'], answered: boolean | null, reason: string): UdpVerdict {
  return {
    verdict: which,
    reason: reason.slice(0, 512),
    answered,
    quicBps: null,
    tcpBps: null,
    ratio: null,
    pairs: 0,
    bytes: 0,
  };
}

/** Pairs of transfers of an HTTP/2 round and an HTTP/3 round with the same response. */
interface Pair {
  tcp: Transfer[];
  quic: Transfer[];
}

/** Bodies may differ a little from one response to the next. */
const SAME_SIZE = 0.1;

function pairsOf({ h2, h3 }: UdpEvidence): Pair[] {
  return h3.slice(0, h2.length).map((round, index) => {
    const overTcp = new Map(h2[index]!.transfers.map((transfer) => [transfer.index, transfer]));
    const pair: Pair = { tcp: [], quic: [] };
    for (const quic of round.transfers) {
      const tcp = overTcp.get(quic.index);
      if (quic.protocol !== 'h3' || tcp?.protocol !== 'h2') continue;
      if (quic.error !== '' || tcp.error !== '' || quic.status !== tcp.status) continue;
      if (Math.abs(quic.bytes - tcp.bytes) > SAME_SIZE * Math.max(quic.bytes, tcp.bytes)) continue;
      pair.tcp.push(tcp);
      pair.quic.push(quic);
    }
    return pair;
  });
}

function ratesOf({ tcp, quic }: Pair, originOf: UdpEvidence['originOf']): Rates | null {
  const tcpMs = transferMs(tcp, originOf);
  const quicMs = transferMs(quic, originOf);
  const bytes = quic.reduce((sum, transfer) => sum + transfer.bytes, 0);
  if (bytes === 0 || tcpMs <= 0 || quicMs <= 0) return null;
  return { quicBps: (8000 * bytes) / quicMs, tcpBps: (8000 * bytes) / tcpMs, bytes };
}

/** Milliseconds in which at least one response was awaited on an established connection, or arrived. */
function transferMs(transfers: readonly Transfer[], originOf: UdpEvidence['originOf']): number {
  const connectedMs = new Map<string, number>();
  for (const { index, handshakeMs } of transfers) {
    const origin = originOf(index);
    if (handshakeMs === null) continue;
    connectedMs.set(origin, Math.min(handshakeMs, connectedMs.get(origin) ?? handshakeMs));
  }
  const spans = transfers
    .map(({ index, startMs, endMs }) => ({
      from: Math.max(startMs, connectedMs.get(originOf(index)) ?? 0),
      to: endMs,
    }))
    .sort((a, b) => a.from - b.from);
  let total = 0;
  let until = 0;
  for (const { from, to } of spans) {
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return total;
}

function intervalOf(
  rates: readonly Rates[],
  overTcp: readonly RoundResult[],
): NonNullable<UdpVerdict['ratio']> {
  const logs = rates.map(({ quicBps, tcpBps }) => Math.log(quicBps / tcpBps));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
  const segments = overTcp.reduce((sum, { segmentsIn }) => sum + (segmentsIn ?? 0), 0);
  const losses = overTcp.reduce((sum, { lossEvents }) => sum + (lossEvents ?? 0), 0);
  const isLossy = losses > LOSSY_FROM * segments;
  const hasFew = median(rates.map(({ bytes }) => bytes)) < MANY_BYTES;
  const minSpread = isLossy ? LOSSY_SPREAD : hasFew ? FEW_SPREAD : MIN_SPREAD;
  const spread = Math.max(minSpread, Math.sqrt(squares / Math.max(1, logs.length - 1)));
  const reach = (REACH * spread) / Math.sqrt(logs.length);
  return { low: Math.exp(mean - reach), mean: Math.exp(mean), high: Math.exp(mean + reach) };
}

/** An origin with enough bytes whose HTTP/3 is not slow. */
function freeOrigin(pairs: readonly Pair[], originOf: (index: number) => string): string | null {
  const origins = new Set(pairs.flatMap(({ quic }) => quic.map(({ index }) => originOf(index))));
  for (const origin of origins) {
    const own = pairs.flatMap(({ tcp, quic }) => {
      const ofOrigin = (transfers: Transfer[]) => transfers.filter(({ index }) => originOf(index) === origin);
      return ratesOf({ tcp: ofOrigin(tcp), quic: ofOrigin(quic) }, originOf) ?? [];
    });
    if (own.length === 0 || median(own.map(({ bytes }) => bytes)) < ORIGIN_BYTES) continue;
    if (intervalOf(own, []).mean > LIMIT) return origin;
  }
  return null;
}

const percent = (share: number): string => `${Math.round(100 * share)}%`;
const kB = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;
