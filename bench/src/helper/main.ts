/** `npm run bench -- helper`: what it takes to start the helper for one question, beside that of another checkout. */
import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { median } from '@hopwise/contract';
import { integer } from '@hopwise/lab/command/option-types';
import { ROOT } from '@hopwise/lab/paths';
import { InvalidArgumentError } from 'commander';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { comparePairs } from '../recorder/compare-pairs.ts';
import { HelperStarts, QUESTIONS } from './start-helper.ts';

const command = benchCommand(
  'helper',
  'Starts the helper for one question, as the extension does, and measures its processor time and how long the answer takes.',
)
  .option('--rounds <n>', 'starts for each question', integer(2, 1_000), 15)
  .option('--against <dir>', 'by turns with the built helper of another checkout', builtHelper);
function builtHelper(dir: string): string {
  if (existsSync(join(dir, 'native-host/dist/bin/hopwise-host.js'))) return dir;
  throw new InvalidArgumentError('expected a checkout with a built helper');
}

const { rounds, against } = parseOrExit(command).opts<{ rounds: number; against?: string }>();

const rival = against === undefined ? null : resolve(against);
const starts = await HelperStarts.open();
try {
  for (const question of Object.keys(QUESTIONS) as (keyof typeof QUESTIONS)[]) {
    // The first start of each has nothing kept yet.
    for (const [name, checkout] of [
      ['own', ROOT],
      ['rival', rival],
    ] as const)
      if (checkout !== null) await starts.measure(checkout, name, question);
    const own = [];
    const rivals = [];
    for (let round = 0; round < rounds; round++) {
      own.push(await starts.measure(ROOT, 'own', question));
      if (rival !== null) rivals.push(await starts.measure(rival, 'rival', question));
    }
    console.log(`${question}, ${rounds} starts:`);
    for (const [name, of] of [
      ['processor time', 'processorMs'],
      ['answer after', 'answerMs'],
    ] as const) {
      const times = own.map((each) => each[of]);
      if (rival === null) console.log(`  ${name.padEnd(16)}${median(times).toFixed(0)} ms`);
      else {
        const {
          without,
          with: now,
          difference,
          low,
          high,
        } = comparePairs(
          times,
          rivals.map((each) => each[of]),
        );
        console.log(
          `  ${name.padEnd(16)}${without.toFixed(0)} → ${now.toFixed(0)} ms, ${difference.toFixed(0)} (${low.toFixed(0)} to ${high.toFixed(0)}) more`,
        );
      }
    }
  }
  console.log(`\n${availableParallelism()} processors, load ${loadavg()[0]!.toFixed(1)} in the last minute`);
} finally {
  await starts.close();
}
