import { median, type RecordedRequest } from '@hopwise/contract';

/** A time that contains one round trip to an origin, and whatever delayed the answer. */
export interface RoundTrip {
  /** `transport`: TCP's or QUIC's handshake; `tls`: TLS after TCP, with the key exchange; `wait`: with the server's think time; `file`: the wait for a static file. */
  kind: 'transport' | 'tls' | 'wait' | 'file';
  rttMs: number;
  /** When it ended, milliseconds after navigationStart. */
  endMs: number;
  /**
   * Whether its beginning may be cut off: the connection may have been under way before the request that used it, and
   * browsers clip the phases of a connection to the request's own time.
   */
  isClipped: boolean;
}

export function isHandshake({ kind }: RoundTrip): boolean {
  return kind === 'transport' || kind === 'tls';
}

/** Shorter phases measure nothing: Chromium's clock for pages ticks in tenths of a millisecond. */
const MIN_PHASE_MS = 0.1;
/** A connection begins within this of its name's resolution. */
const MAX_RESOLVED_MS = 5;

/** TLS takes at least TCP's round trip: a TCP phase of less than this share of TLS's, less `KEY_EXCHANGE_MS`, was cut off. */
const MIN_SHARE_OF_TLS = 0.8;
/** Processor time that TLS takes besides its round trip. */
const KEY_EXCHANGE_MS = 5;

/**
 * Chromium opens a navigation's connection before it makes the request (`LoadingPredictor`), which cuts off the beginning of the TCP phase: 1 to
 * 5 ms in the lab. A larger difference from TLS may be TLS's own time, or that of its larger packets on a slow upstream.
 */
const MAX_CUT_MS = 6;
/** The same where the page's other connections show how much longer TLS takes: 11 ms were cut off on a busy machine. */
const MAX_CUT_IF_SHOWN_MS = 20;
/** TLS takes two round trips at most (TLS 1.2), TCP one: where TLS took more than this many times as long as TCP, most of TCP was cut off. */
const MAX_TLS_TO_TCP = 3;
/** Unless TLS took this much longer than TCP: it then waited for a lost packet (Linux's shortest timeout, `TCP_RTO_MIN`). */
const LOST_MS = 200;
/** Fewer other connections do not show how much longer TLS takes. */
const MIN_CONNECTIONS = 2;

/**
 * Reads the round trips of the handshakes on a request's new connection: TCP's takes one, as does QUIC's, which contains TLS (RFC 9001
 * section 4.1); that of TLS 1.3 takes one more (RFC 8446 section 2), that of TLS 1.2 two, so that it bounds the round trip from above.
 *
 * A phase is whole if the request shows what came before it: the resolution of the name before TCP or QUIC, TCP before TLS. So is the
 * transport's if nothing can have opened the connection earlier (a navigation), or if the request is the first to its origin and the
 * phase is not short beside TLS.
 *
 * @param isFirst whether no earlier request went to the origin
 * @param tlsExtraMs as `findTlsExtra` found it; null where it is not known
 * @returns none for a reused connection, for withheld phases, and for phases too short to be measured
 */
export function handshakeTrips(
  request: RecordedRequest,
  isFirst: boolean,
  tlsExtraMs: number | null = null,
): RoundTrip[] {
  const { connectStartMs, secureStartMs, connectEndMs } = request.phases;
  if (connectStartMs === null || connectEndMs === null) return [];
  const isNavigation = request.initiator.kind === 'navigation';
  const isWhole = showsResolution(request) || isNavigation;
  const hasTls = request.url.startsWith('https:');
  if (request.protocol === 'h3' || !hasTls || secureStartMs === null) {
    const lengthMs = connectEndMs - connectStartMs;
    if (lengthMs <= MIN_PHASE_MS) return [];
    // Without `secureStartMs`, TCP and TLS are one phase.
    const rttMs = request.protocol !== 'h3' && hasTls ? lengthMs / 2 : lengthMs;
    return [{ kind: 'transport', rttMs, endMs: connectEndMs, isClipped: !(isWhole || isFirst) }];
  }
  const tcpMs = secureStartMs - connectStartMs;
  const tlsMs = connectEndMs - secureStartMs;
  const found: RoundTrip[] = [];
  if (tcpMs > MIN_PHASE_MS) {
    const mayBeCut = isNavigation && !showsResolution(request);
    const isCutOff = mayBeCut && tlsExtraMs !== null && hidesMost(tcpMs, tlsMs);
    const isClipped = isCutOff || !(isWhole || (isFirst && !isShort(tcpMs, tlsMs)));
    const cutMs = mayBeCut ? findCut(tcpMs, tlsMs, tlsExtraMs) : 0;
    found.push({ kind: 'transport', rttMs: tcpMs + cutMs, endMs: secureStartMs, isClipped });
  }
  if (tlsMs > MIN_PHASE_MS) {
    found.push({ kind: 'tls', rttMs: tlsMs, endMs: connectEndMs, isClipped: tcpMs <= MIN_PHASE_MS });
  }
  return found;
}

/** Finds how much was cut off a TCP phase: TLS's round trip is the same, and whole. @returns milliseconds; 0 also where it is not known */
function findCut(tcpMs: number, tlsMs: number, tlsExtraMs: number | null): number {
  const cutMs = Math.max(0, tlsMs - KEY_EXCHANGE_MS - tcpMs);
  if (cutMs <= MAX_CUT_MS) return cutMs;
  const shownMs = tlsExtraMs === null ? 0 : tlsMs - Math.max(KEY_EXCHANGE_MS, tlsExtraMs) - tcpMs;
  return shownMs > 0 && shownMs <= MAX_CUT_IF_SHOWN_MS ? shownMs : 0;
}

/** Whether most of a TCP phase was cut off, so that what is left of it shows nothing. */
const hidesMost = (tcpMs: number, tlsMs: number): boolean =>
  tlsMs > MAX_TLS_TO_TCP * tcpMs && tlsMs - tcpMs < LOST_MS;

/** Whether a TCP phase is too short beside TLS's to be whole. */
const isShort = (tcpMs: number, tlsMs: number): boolean => tcpMs < MIN_SHARE_OF_TLS * tlsMs - KEY_EXCHANGE_MS;

/** Finds how much longer TLS took than TCP on a page's connections, without the navigation's. @returns the median, milliseconds; null where too few show it */
export function findTlsExtra(requests: readonly RecordedRequest[]): number | null {
  const extraMs = requests.flatMap(({ phases, protocol, initiator }) => {
    const { connectStartMs, secureStartMs, connectEndMs } = phases;
    if (connectStartMs === null || secureStartMs === null || connectEndMs === null) return [];
    if (protocol === 'h3' || initiator.kind === 'navigation') return [];
    const tcpMs = secureStartMs - connectStartMs;
    const tlsMs = connectEndMs - secureStartMs;
    return tcpMs <= MIN_PHASE_MS || tlsMs <= MIN_PHASE_MS || isShort(tcpMs, tlsMs) ? [] : [tlsMs - tcpMs];
  });
  return extraMs.length < MIN_CONNECTIONS ? null : median(extraMs);
}

/** Whether a request shows the resolution of its host right before its connection, which then had not been under way. */
export function showsResolution({
  phases: { dnsStartMs, dnsEndMs, connectStartMs },
}: RecordedRequest): boolean {
  if (dnsStartMs === null || dnsEndMs === null || connectStartMs === null) return false;
  return dnsEndMs - dnsStartMs > MIN_PHASE_MS && connectStartMs - dnsEndMs <= MAX_RESOLVED_MS;
}
