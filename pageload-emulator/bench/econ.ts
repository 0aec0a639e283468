/**
 * ECON's sums beside the Monte Carlo oracle: per configuration and quantity the sum, the simulation's mean, how
 * many of its standard errors lie between them, and the relative error.
 *
 *     node pageload-emulator/bench/econ.ts [SAMPLES]      (Node 24; no build needed)
 */

import {
  byQuantity,
  CONFIGURATIONS,
  type Compared,
  compare,
  signedError,
  zScore,
} from '../test/econ/comparison.ts';

const samples = Number(process.argv[2] ?? 5_000);
if (!Number.isInteger(samples) || samples < 1_000 || process.argv.length > 3) {
  console.error(
    `econ: expected a number of samples of at least 1,000, got ${process.argv.slice(2).join(' ')}`,
  );
  process.exit(2);
}

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
  const sizes = errors.map(Math.abs).sort((a, b) => a - b);
  console.log(
    `  ${quantity.padEnd(20)}${Math.max(...scores.map(Math.abs))
      .toFixed(1)
      .padStart(9)}` +
      `${(sum(scores) / Math.sqrt(scores.length)).toFixed(1).padStart(10)}` +
      `${percent(sizes[sizes.length >> 1]!).padStart(16)}${percent(sum(errors) / errors.length)}${percent(sizes.at(-1)!).padStart(14)}`,
  );
}

function figure(value: number): string {
  return value.toPrecision(5).padStart(12);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`.padStart(9);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
