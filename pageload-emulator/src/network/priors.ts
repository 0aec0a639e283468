import { LogDensity, logGrid } from './log-density.ts';

/**
 * Prior distributions of an access network. The recording's timings outweigh them wherever the recording shows a figure;
 * where it does not, the prior is the uncertainty of the prediction.
 */

const DOWN_GRID = logGrid(50_000, 2e9, 120);

/**
 * Downstream rate, bits per second: 25 Mbit/s to a factor of 3 at a round trip of 40 ms, less at longer ones. Chromium's
 * network quality estimator relates the two (its typical 3G has 450 ms and 0.4 Mbit/s, its 4G 175 ms and 1.6 Mbit/s); half of
 * that slope is taken, as distant servers have long round trips too. Median and spread are assumed.
 */
export function downBpsPrior(rttMs: number): LogDensity {
  return LogDensity.logNormal(DOWN_GRID, 25e6 * (40 / Math.max(5, rttMs)) ** 0.75, 1.1);
}

const UP_GRID = logGrid(50_000, 2e9, 120);

/** Upstream rate, bits per second: an eighth of the downstream rate or less on cable and DSL, up to all of it on fibre; assumed. */
export function upBpsPrior(downBps: number): LogDensity {
  return LogDensity.logNormal(UP_GRID, 0.3 * downBps, 0.7);
}

/** Round trip, milliseconds; assumed. */
export const RTT_MS_PRIOR = LogDensity.logNormal(logGrid(0.1, 3_000, 120), 40, 0.8);

/**
 * Time in which the bottleneck's full queue drains, milliseconds: a hundred and more for most links (Kreibich et al.,
 * "Netalyzr", IMC 2010, section 5.2), less with active queue management.
 */
export const QUEUE_MS_PRIOR = LogDensity.logNormal(logGrid(10, 3_000, 60), 150, 0.6);
/** Hardly a link's full queue takes longer to drain, milliseconds. */
export const MAX_QUEUE_MS = QUEUE_MS_PRIOR.quantile(0.99);

/** Lower loss has no effect on a page load. */
const MIN_LOSS = 1e-5;

/**
 * Loss prior: events of random loss per packet. Seven links in ten lose less than one packet in a thousand, the others
 * between that and one in twenty; the shares are assumed.
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

/**
 * Mean packets lost in one event: one for independent losses, three to a factor of 1.6 when a radio link fades; the shares are
 * assumed.
 */
export const LOSS_BURST_PRIOR = lossBurstPrior();

function lossBurstPrior(): LogDensity {
  const grid = logGrid(1, 32, 11);
  const bursts = LogDensity.logNormal(grid, 3, 0.5);
  return new LogDensity(
    grid,
    grid.map((packets, index) => Math.log((packets === 1 ? 0.7 : 0) + 0.3 * bursts.weights[index]!)),
  );
}

/** Rates to which policers limit UDP, bits per second; assumed. */
export const POLICED_BPS_PRIOR = LogDensity.logNormal(logGrid(100_000, 50e6, 60), 2e6, 1);
