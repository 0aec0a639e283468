/**
 * Compares ECON's sums with a Monte Carlo simulation: for each configuration and quantity the sum, the simulation's mean, their
 * distance in standard errors, and the relative error; then the results of the formulas as printed in the paper, the sixteen
 * scenarios of its figure 11 and the four cases of its table 5.
 */

import { mean, median, sum } from '@hopwise/contract';
import { integer } from '@hopwise/lab/command/option-types';
import { climb, lossBySegment } from '@hopwise/pageload-emulator/econ';
import { Command } from 'commander';
import { byQuantity, CONFIGURATIONS, type Compared, compare, signedError, zScore } from './comparison.ts';
import { objectsLatencyMs } from './objects-latency.ts';
import { expectedRounds } from './period-sums.ts';
import { periodThroughput } from './period-throughput.ts';
import {
  HTTP_SCENARIOS,
  networkOf,
  VIDEO_LOSS,
  VIDEO_RTTS_MS,
  VIDEO_SEGMENT_MS,
  VIDEO_SIZES,
} from './scenarios.ts';
import { steadyThroughput } from './steady-throughput.ts';
import { highestBitrate } from './video-bitrate.ts';

/** `npm run research -- econ`. */
export function econCommand(): Command {
  return new Command('econ')
    .exitOverride()
    .description(
      "judge ECON's sums by Monte Carlo simulation, and print the paper's own formulas, Figure 11 and Table 5",
    )
    .argument('[samples]', 'of each configuration', integer(1_000, 10_000_000), 5_000)
    .action(judgeSums);
}

function judgeSums(samples: number): void {
  const rows: Compared[] = [];
  for (const [index, configuration] of CONFIGURATIONS.entries()) {
    const compared = compare(configuration, samples, 1_009 * (index + 1));
    rows.push(...compared);
    console.log(`\n${configuration.name}`);
    for (const row of compared) {
      console.log(
        `  ${row.quantity.padEnd(20)}${figure(row.closed)}${figure(row.simulated.value)}` +
          `${zScore(row).toFixed(1).padStart(7)}${percent(signedError(row))}`,
      );
    }
  }

  console.log(`\n${CONFIGURATIONS.length} configurations, ${samples} samples each`);
  console.log(
    `  ${'quantity'.padEnd(20)}${'max |z|'.padStart(9)}${'pooled z'.padStart(10)}  median |error|     bias   max |error|`,
  );
  for (const [quantity, of] of byQuantity(rows)) {
    const scores = of.map(zScore);
    const errors = of.map(signedError);
    const sizes = errors.map(Math.abs);
    console.log(
      `  ${quantity.padEnd(20)}${Math.max(...scores.map(Math.abs))
        .toFixed(1)
        .padStart(9)}` +
        `${(sum(scores) / Math.sqrt(scores.length)).toFixed(1).padStart(10)}` +
        `${percent(median(sizes)).padStart(16)}${percent(mean(errors))}${percent(Math.max(...sizes)).padStart(14)}`,
    );
  }

  /** The formulas as printed: the window of the mean round, and x / B for the latency of a finite flow. */
  const windows: number[] = [];
  const latencies: number[] = [];
  for (const { name, conditions, epoch } of CONFIGURATIONS) {
    const rounds = climb(conditions, epoch);
    const own = rows.filter(({ configuration }) => configuration === name);
    const simulated = (quantity: string) => own.find((row) => row.quantity === quantity)!.simulated.value;
    const meanRound = Math.min(rounds.length, Math.max(1, Math.round(expectedRounds(rounds))));
    windows.push(rounds[meanRound - 1]!.window / simulated('E[cwnd_X]') - 1);
    const { segmentsPerMs } = periodThroughput(conditions, epoch);
    for (const size of [25, 100, 500, 2_000]) {
      latencies.push(size / segmentsPerMs / simulated(`L(${size})`) - 1);
    }
  }
  console.log('\nas printed                 mean |error|      worst');
  for (const [what, errors] of [
    ['cwnd at E[X]', windows],
    ['L = x / B', latencies],
  ] as const) {
    const sizes = errors.map(Math.abs);
    console.log(
      `  ${what.padEnd(24)}${percent(mean(sizes)).padStart(13)}${percent(Math.max(...sizes)).padStart(11)}`,
    );
  }

  console.log('\nfigure 11: ms by HTTP/1.1 and HTTP/2 with the first connection warm, and with all cold');
  for (const scenario of HTTP_SCENARIOS) {
    const { rttMs, objectBytes, objects, loss } = scenario;
    const ms = [1, 0].flatMap((warmConnections) =>
      (['h1', 'h2'] as const).map((protocol) =>
        objectsLatencyMs(protocol, objects, objectBytes, networkOf(scenario), { warmConnections }),
      ),
    );
    const [h1, h2, coldH1, coldH2] = ms.map((value) => Math.round(value));
    console.log(
      `  ${`${rttMs} ms, ${objects} × ${objectBytes / 1_000} kB, loss ${100 * loss}%`.padEnd(36)}` +
        `${`${h1} ${h2}`.padStart(14)} ${best(h1!, h2!).padEnd(6)}${`${coldH1} ${coldH2}`.padStart(14)} ${best(coldH1!, coldH2!)}`,
    );
  }

  console.log(`\ntable 5: ms for each quality of a segment of ${VIDEO_SEGMENT_MS} ms, from the mean window`);
  for (const rttMs of VIDEO_RTTS_MS) {
    const conditions = { congestionControl: 'cubic' as const, rttMs, loss: lossBySegment(VIDEO_LOSS) };
    const window = Math.floor(steadyThroughput(conditions).segmentsPerMs * rttMs);
    const choice = highestBitrate(VIDEO_SIZES, VIDEO_SEGMENT_MS, conditions, { window, ssthresh: window });
    const all = choice.representations.map(({ name, latencyMs }) => `${name} ${Math.round(latencyMs)}`);
    console.log(`  ${`${rttMs} ms`.padEnd(8)}${all.join(', ')}: ${choice.best?.name ?? 'none'}`);
  }
}

function best(h1: number, h2: number): string {
  return Math.max(h1, h2) < 1.05 * Math.min(h1, h2) ? 'either' : h1 < h2 ? 'h1' : 'h2';
}

function figure(value: number): string {
  return value.toPrecision(5).padStart(12);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`.padStart(9);
}
