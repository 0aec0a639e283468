import type { Recording } from '@hopwise/contract';
import { type LogDensity, logNormal } from '../network/log-density.ts';
import { upBpsPrior } from '../network/priors.ts';
import { handshakeOf } from '../transport/handshake.ts';
import type { PosteriorInput } from './posterior-input.ts';
import { givenUploads } from './upload-evidence.ts';

/** Processor time of a TLS handshake on both sides, for signatures and certificates. */
const CRYPTO_MS = 1.5;
/** Error of a handshake's time, from processor time and the browser's clock: a constant, plus a share of the expected time. */
const NOISE_MS = 2;
const NOISE_SHARE = 0.12;
/** Handshakes that end within this after the first response byte did not yet compete with responses. */
const QUIET_MS = 1;
/** A shorter TCP phase is one that was recorded in part. */
const MIN_TCP_MS = 0.5;

/** Error of a measured upstream rate: standard deviation of the logarithm. */
const MEASURED_SPREAD = 0.1;

/**
 * Infers the upstream rate, bits per second, from the first connections' handshakes, before other packets are on the link: TLS's
 * round trip exceeds TCP's by the transmission of the ClientHello upstream and the certificates downstream (`handshakeOf`); and from
 * requests with bodies (`givenUploads`).
 *
 * @param downBps median of the downstream rate, bits per second
 */
export function upstreamRate(
  { recording, uploads, prior, measured }: PosteriorInput,
  downBps: number,
): LogDensity {
  const shown = givenHandshakes(recording, downBps, prior.density('upBps', upBpsPrior(downBps)));
  const density = givenUploads(uploads, shown);
  const { upBps } = measured;
  return upBps === undefined ? density : density.given((bps) => logNormal(bps, upBps, MEASURED_SPREAD));
}

function givenHandshakes(recording: Recording, downBps: number, prior: LogDensity): LogDensity {
  const excessMs = quietTlsExcess(recording);
  if (excessMs === null) return prior;
  const tls = handshakeOf('h2', '1.3').rounds[1]!;
  const downMs = (tls.downBytes * 8000) / downBps;
  return prior.given((upBps) => {
    const expectedMs = (tls.upBytes * 8000) / upBps + downMs + CRYPTO_MS;
    const off = (excessMs - expectedMs) / (NOISE_MS + NOISE_SHARE * expectedMs);
    // Student's t distribution has heavy tails: a lost or late packet is no slow link.
    return -2.5 * Math.log1p((off * off) / 4);
  });
}

/** Excess of TLS's round trip over TCP's on connections opened before the first response, milliseconds; null without one. */
function quietTlsExcess({ requests }: Recording): number | null {
  let firstByteMs = Number.POSITIVE_INFINITY;
  for (const { phases, fromCache } of requests) {
    if (!fromCache) firstByteMs = Math.min(firstByteMs, phases.responseStartMs ?? Number.POSITIVE_INFINITY);
  }
  let minMs: number | null = null;
  for (const { protocol, phases } of requests) {
    const { connectStartMs, secureStartMs, connectEndMs } = phases;
    if (protocol === 'h3' || connectStartMs === null || secureStartMs === null || connectEndMs === null)
      continue;
    if (connectEndMs > firstByteMs + QUIET_MS) continue;
    const tcpMs = secureStartMs - connectStartMs;
    const excessMs = connectEndMs - secureStartMs - tcpMs;
    // Partly recorded TCP phases, and TLS 1.2 with its second round trip, are skipped.
    if (tcpMs < MIN_TCP_MS || excessMs > 0.7 * tcpMs) continue;
    minMs = Math.min(minMs ?? Number.POSITIVE_INFINITY, Math.max(0, excessMs));
  }
  return minMs;
}
