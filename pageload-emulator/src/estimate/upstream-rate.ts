import type { Recording } from '@hopwise/contract';
import type { LogDensity } from '../network/log-density.ts';
import { handshakeOf } from '../transport/handshake.ts';

/** What a TLS handshake's computing takes on both sides beside its round trip: a signature, its check, the certificates'. */
const CRYPTO_MS = 1.5;
/** How far a handshake's time may be off beside its packets' transmission: that computing and the browser's clock. */
const NOISE_MS = 2;
const NOISE_SHARE = 0.12;
/** Handshakes begun this soon after the first are not yet among responses. */
const QUIET_MS = 1;

/**
 * Upstream rate from a handshake of the first connection, when nothing else was on the link: TLS's round trip takes longer
 * than TCP's by what a ClientHello takes upstream and certificates downstream (`handshakeOf`).
 *
 * @param downBps median of the downstream rate
 * @param prior what is believed of the upstream rate
 */
export function upstreamRate(recording: Recording, downBps: number, prior: LogDensity): LogDensity {
  const excessMs = quietTlsExcess(recording);
  if (excessMs === null) return prior;
  const tls = handshakeOf('h2', '1.3').rounds[1]!;
  const downMs = (tls.downBytes * 8000) / downBps;
  return prior.given((upBps) => {
    const expectedMs = (tls.upBytes * 8000) / upBps + downMs + CRYPTO_MS;
    const off = (excessMs - expectedMs) / (NOISE_MS + NOISE_SHARE * expectedMs);
    // Tails of Student's t: a lost or late packet is no slow link.
    return -2.5 * Math.log1p((off * off) / 4);
  });
}

/** How much longer TLS's round trip took than TCP's, on connections that were opened before any response came. */
function quietTlsExcess({ requests }: Recording): number | null {
  let firstByteMs = Number.POSITIVE_INFINITY;
  for (const { phases, fromCache } of requests) {
    if (!fromCache) firstByteMs = Math.min(firstByteMs, phases.responseStartMs ?? Number.POSITIVE_INFINITY);
  }
  let least: number | null = null;
  for (const { protocol, phases } of requests) {
    const { connectStartMs, secureStartMs, connectEndMs } = phases;
    if (protocol === 'h3' || connectStartMs === null || secureStartMs === null || connectEndMs === null)
      continue;
    if (connectEndMs > firstByteMs + QUIET_MS) continue;
    const tcpMs = secureStartMs - connectStartMs;
    const excessMs = connectEndMs - secureStartMs - tcpMs;
    // A TCP phase seen in part, and TLS 1.2 with its second round trip, tell nothing.
    if (tcpMs < MIN_TCP_MS || excessMs > 0.7 * tcpMs) continue;
    least = Math.min(least ?? Number.POSITIVE_INFINITY, Math.max(0, excessMs));
  }
  return least;
}

const MIN_TCP_MS = 0.5;
