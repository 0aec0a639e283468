import type { RecordedRequest } from '@hopwise/contract';

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
 * Chromium opens a navigation's connection before it makes the request (`LoadingPredictor`). In the lab this cut 1 to 5 ms off the TCP phase. A
 * larger difference from TLS may be TLS's own time, or that of its larger packets on a slow upstream.
 */
const MAX_CUT_MS = 6;

/**
 * Reads the round trips of the handshakes on a request's new connection: TCP's takes one, as does QUIC's, which contains TLS (RFC 9001
 * section 4.1); that of TLS 1.3 takes one more (RFC 8446 section 2), that of TLS 1.2 two, so that it bounds the round trip from above.
 *
 * A phase is whole if the request shows what came before it: the resolution of the name before TCP or QUIC, TCP before TLS. So is the
 * transport's if nothing can have opened the connection earlier (a navigation), or if the request is the first to its origin and the
 * phase is not short beside TLS.
 *
 * @param isFirst whether no earlier request went to the origin
 * @returns none for a reused connection, for withheld phases, and for phases too short to be measured
 */
export function handshakeTrips(request: RecordedRequest, isFirst: boolean): RoundTrip[] {
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
    const isShort = tcpMs < MIN_SHARE_OF_TLS * tlsMs - KEY_EXCHANGE_MS;
    const isClipped = !(isWhole || (isFirst && !isShort));
    // TLS's round trip is the same, with nothing cut off.
    const cutMs = isNavigation && !showsResolution(request) ? tlsMs - KEY_EXCHANGE_MS - tcpMs : 0;
    const rttMs = cutMs > 0 && cutMs <= MAX_CUT_MS ? tcpMs + cutMs : tcpMs;
    found.push({ kind: 'transport', rttMs, endMs: secureStartMs, isClipped });
  }
  if (tlsMs > MIN_PHASE_MS) {
    found.push({ kind: 'tls', rttMs: tlsMs, endMs: connectEndMs, isClipped: tcpMs <= MIN_PHASE_MS });
  }
  return found;
}

/** Whether a request shows the resolution of its host right before its connection. */
function showsResolution({ phases: { dnsStartMs, dnsEndMs, connectStartMs } }: RecordedRequest): boolean {
  if (dnsStartMs === null || dnsEndMs === null || connectStartMs === null) return false;
  return dnsEndMs - dnsStartMs > MIN_PHASE_MS && connectStartMs - dnsEndMs <= MAX_RESOLVED_MS;
}
