/** `npm run bench -- fuzz --minutes 10 --target har`: feeds every parser of untrusted input with changed inputs. */
import { join } from 'node:path';
import { integer, number } from '@hopwise/lab/command/option-types';
import { Option } from 'commander';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { type FuzzResult, fuzzTarget } from './fuzz-target.ts';
import { TARGETS } from './targets.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Exit code for a broken property. */
const BROKEN = 1;

const command = benchCommand(
  'fuzz',
  'Feeds every parser of untrusted input with changed inputs, and checks what has to hold.',
)
  .option('--minutes <n>', 'in all; targets share them equally', number(0.001, 100_000, 'minutes'), 10)
  .addOption(
    new Option('--target <name...>', 'only these')
      .choices(Object.keys(TARGETS))
      .default(Object.keys(TARGETS), 'all'),
  )
  .addOption(
    new Option('--seed <n>', 'of the draws')
      .argParser(integer(0, Number.MAX_SAFE_INTEGER))
      .default(Date.now() % 1_000_000, 'by the time of day'),
  )
  .option('--executions <n>', 'of each target, at most', integer(1, Number.MAX_SAFE_INTEGER), 1e12)
  .addHelpText(
    'after',
    `
Inputs that run new code are kept in .cache/fuzz/, those that break a property in out/fuzz/. Ctrl-C ends it; the next run goes on
from what was kept.

Targets:
${Object.entries(TARGETS)
  .map(([name, { title }]) => `  ${name.padEnd(18)}${title}`)
  .join('\n')}`,
  );
const {
  minutes,
  target: targets,
  seed,
  executions,
} = parseOrExit(command).opts<{
  minutes: number;
  target: string[];
  seed: number;
  executions: number;
}>();
await fuzz();

async function fuzz(): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  console.log(`seed ${seed}`);
  console.log(row(['target', 'executions', 'per s', 'corpus', 'new', 'blocks', 'findings']));
  const results: FuzzResult[] = [];
  for (const target of targets) {
    if (stop.signal.aborted) break;
    const result = await fuzzTarget({
      target,
      seed,
      seconds: (minutes * 60) / targets.length,
      executions,
      corpus: join(ROOT, '.cache/fuzz'),
      findings: join(ROOT, 'out/fuzz'),
      signal: stop.signal,
    });
    results.push(result);
    show(result);
  }
  const total = results.reduce((sum, one) => sum + one.executions, 0);
  const findings = results.reduce((sum, one) => sum + one.findings.length, 0);
  console.log(`${total} executions of ${results.length} targets, ${findings} findings`);
  process.exitCode = findings > 0 ? BROKEN : 0;
}

function show({ target, executions: done, seconds, corpus, added, blocks, findings }: FuzzResult): void {
  console.log(row([target, done, Math.round(done / seconds), corpus, added, blocks, findings.length]));
  for (const { why, file } of findings) console.log(`  ${why}\n    ${file}`);
}

function row([name, ...figures]: (string | number)[]): string {
  return `${String(name).padEnd(18)}${figures.map((figure) => String(figure).padStart(11)).join('')}`;
}
