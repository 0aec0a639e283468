import { LogDensity, logGrid } from './log-density.ts';

/**
 * What is believed of an access network before anything was seen of it. The recording's own timings outweigh all
 * of it wherever they speak; where they do not, this is the uncertainty that is stated.
 */

const DOWN_GRID = logGrid(50_000, 2e9, 120);

/**
 * Downstream, bits per second: 25 Mbit/s to a factor of 3 where the round trip is 40 ms, and less on a longer one. That far
 * links are slow ones is what Chromium's network quality estimator goes by (its typical 3G has 450 ms and 0.4 Mbit/s, its
 * 4G 175 ms and 1.6); half of that slope is taken, as far servers have long round trips too. The rest is assumed.
 */
export function downBpsPrior(rttMs: number): LogDensity {
  return LogDensity.logNormal(DOWN_GRID, 25e6 * (40 / Math.max(5, rttMs)) ** 0.75, 1.1);
}

const UP_GRID = logGrid(50_000, 2e9, 120);

/** Upstream, bits per second: from an eighth or less of the downstream rate on cable and DSL to all of it on fibre; no measurement is behind it. */
export function upBpsPrior(downBps: number): LogDensity {
  return LogDensity.logNormal(UP_GRID, 0.3 * downBps, 0.7);
}

/** Round trip where nothing shows it, milliseconds; no measurement is behind it. */
export const RTT_MS_PRIOR = LogDensity.logNormal(logGrid(0.1, 3_000, 120), 40, 0.8);

/**
 * How long the bottleneck's queue takes to drain when full, milliseconds: most of a hundred and more (Kreibich et al.,
 * "Netalyzr", IMC 2010, section 5.2), less where queues are managed.
 */
export const QUEUE_MS_PRIOR = LogDensity.logNormal(logGrid(10, 3_000, 60), 150, 0.6);

/** Loss below this does nothing to a page. */
const MIN_LOSS = 1e-5;

/**
 * Events of random loss per packet. Links that are not called lossy lose less than one in a thousand; three in ten
 * are believed to lose between that and one in twenty. No measurement is behind the shares.
 */
export const LOSS_PRIOR = lossPrior();

function lossPrior(): LogDensity {
  const grid = logGrid(MIN_LOSS, 0.1, 13);
  const clean = LogDensity.logNormal(grid, 2e-4, 1.3);
  const lossy = LogDensity.logNormal(grid, 1e-2, 1);
  return new LogDensity(
    grid,
    grid.map((_, index) => Math.log(0.7 * clean.weights[index]! + 0.3 * lossy.weights[index]!)),
  );
}

/** Packets that an event of loss takes: one where losses are independent, several where a radio fades; the shares are assumed. */
export const LOSS_BURSTS: readonly { packets: number; share: number }[] = [
  { packets: 1, share: 0.7 },
  { packets: 3, share: 0.3 },
];

/**
 * UDP's treatment: 4.4% of users could not use QUIC and 0.3% had it limited to a rate (Langley et al., "The
 * QUIC Transport Protocol", SIGCOMM 2017, section 7.2). Who asks has more reason than most to suspect the network, so
 * the second is assumed to be five times as frequent.
 */
export const UDP_PRIOR = { blocked: 0.044, policed: 0.015 };
/** Rates that policers hold UDP to, bits per second; assumed. */
export const POLICED_BPS_PRIOR = LogDensity.logNormal(logGrid(100_000, 50e6, 60), 2e6, 1);
