import type { Recording } from '@hopwise/contract';
import { MIN_DENSITY_RTT_MS } from '../network/bounds.ts';
import { type Interval, LogDensity, logGrid } from '../network/log-density.ts';
import { RTT_MS_PRIOR } from '../network/priors.ts';
import type { PosteriorInput } from './posterior-input.ts';

/** The transport whose handshakes show the round trip. */
type HandshakeTransport = 'tcp' | 'quic';

/**
 * By how much the shortest handshake exceeds the path's round trip: log-normal, median in milliseconds. TCP's packets are small
 * and answered by the kernel; QUIC's handshake contains TLS and fills several packets in both directions. Chosen on the training
 * cells of the gauntlet, where the excess does not depend on the round trip: 0.4 to 1.3 ms over TCP, 2 to 14 ms over QUIC.
 */
const EXCESS: Record<HandshakeTransport, { medianMs: number; spread: number }> = {
  tcp: { medianMs: 0.7, spread: 0.45 },
  quic: { medianMs: 4.8, spread: 0.75 },
};
/** Variation of a path's round trip: standard deviation of the logarithm; assumed. */
const PATH_SPREAD = 0.01;
const CELLS = 121;
/** Reach of the grid in standard deviations, and its end as a share of the handshake's time. */
const REACH = 3;
const MIN_SHARE = 0.2;

/** Error of a measured round trip: standard deviation of the logarithm. */
const MEASURED_SPREAD = 0.03;
/** Error of round trips from handshakes, which include processor time, and from waits, which include server time. */
const HANDSHAKE_SPREAD = 0.03;
const WAIT_SPREAD = 0.3;

/**
 * Infers the round trip, milliseconds. Emulated handshakes take no processor time, so emulations are given a handshake's whole
 * time, the density; the path's own round trip, in the interval, is shorter.
 */
export function roundTrip({ recording, estimate, measured, prior }: PosteriorInput): {
  density: LogDensity;
  interval: Interval;
} {
  const { path, sources } = estimate;
  const transport = handshakeTransport(recording);
  const density =
    measured.rttMs !== undefined
      ? closeTo(measured.rttMs, MEASURED_SPREAD)
      : sources.rttMs === 'assumed'
        ? prior.density('rttMs', RTT_MS_PRIOR)
        : closeTo(path.rttMs, transport === null ? WAIT_SPREAD : HANDSHAKE_SPREAD);
  const { interval } = density;
  if (measured.rttMs !== undefined || transport === null) return { density, interval };
  const ownMs = rttFromHandshake(path.rttMs, transport).quantile(0.1);
  const { median } = interval;
  return { density, interval: { low: Math.min(median, ownMs), median, high: median } };
}

/** Log-normal density on a grid of its own, fine enough for its spread. */
function closeTo(figure: number, spread: number): LogDensity {
  const value = Math.max(MIN_DENSITY_RTT_MS, figure);
  const reach = Math.exp(4 * spread);
  return LogDensity.logNormal(logGrid(value / reach, value * reach, 41), value, spread);
}

/** Density of the path's round trip, milliseconds. @param handshakeMs the shortest handshake's round trip */
export function rttFromHandshake(handshakeMs: number, transport: HandshakeTransport): LogDensity {
  const { medianMs, spread } = EXCESS[transport];
  const seenMs = Math.max(MIN_DENSITY_RTT_MS, handshakeMs);
  const maxExcessMs = medianMs * Math.exp(REACH * spread);
  const grid = logGrid(
    Math.max(MIN_SHARE * seenMs, seenMs - maxExcessMs) * Math.exp(-REACH * PATH_SPREAD),
    seenMs * Math.exp(REACH * PATH_SPREAD),
    CELLS,
  );
  const logWeights = grid.map((rttMs) => {
    const excessMs = seenMs - rttMs;
    if (excessMs <= 0) return Number.NEGATIVE_INFINITY;
    // Cells are equally wide in the logarithm of the round trip: the density over it is that of the excess times the round trip.
    return -0.5 * (Math.log(excessMs / medianMs) / spread) ** 2 - Math.log(excessMs) + Math.log(rttMs);
  });
  return new LogDensity(grid, logWeights).blurred(PATH_SPREAD);
}

/** The transport with a recorded handshake, TCP if both have one; null without any. */
function handshakeTransport({ requests }: Recording): HandshakeTransport | null {
  let found: HandshakeTransport | null = null;
  for (const { protocol, phases } of requests) {
    const { connectStartMs, connectEndMs } = phases;
    if (connectStartMs === null || connectEndMs === null || connectEndMs <= connectStartMs) continue;
    if (protocol !== 'h3') return 'tcp';
    found = 'quic';
  }
  return found;
}
