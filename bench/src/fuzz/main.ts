/** `npm run fuzz -- --minutes 10 --target har`: feeds every parser that hears outsiders with changed inputs. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type FuzzResult, fuzzTarget } from './fuzz-target.ts';
import { TARGETS } from './targets.ts';

const USAGE = `npm run fuzz -- [--minutes 10] [--target NAME]… [--seed N] [--executions N]
  --minutes N     in all; targets share them equally
  --target NAME   only this one, can be repeated
  --seed N        the draws; the time of day unless given
  --executions N  of each target, at most
Inputs that run new code are kept in .cache/fuzz/, those that break a property in out/fuzz/. Ctrl-C ends it; the next run goes on
from what was kept.

${Object.entries(TARGETS)
  .map(([name, { title }]) => `  ${name.padEnd(18)}${title}`)
  .join('\n')}`;

const ROOT = join(import.meta.dirname, '../..');
/** Exit codes: a broken property, and arguments that cannot be used. */
const BROKEN = 1;
const UNUSABLE = 2;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    target: { type: 'string', multiple: true, default: Object.keys(TARGETS) },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    executions: { type: 'string', default: '1e12' },
    help: { type: 'boolean', short: 'h' },
  },
});
const [minutes, seed, executions] = [values.minutes, values.seed, values.executions].map(Number) as [
  number,
  number,
  number,
];
const unknown = values.target.find((name) => !Object.hasOwn(TARGETS, name));
if (values.help) {
  console.log(USAGE);
} else if (unknown !== undefined) {
  console.error(`fuzz: --target: expected ${Object.keys(TARGETS).join(', ')}, got ${unknown}`);
  process.exitCode = UNUSABLE;
} else if (!(minutes > 0 && executions > 0 && Number.isSafeInteger(seed) && seed >= 0)) {
  console.error(
    'fuzz: expected --minutes and --executions above 0 and a whole --seed from 0; --help shows all',
  );
  process.exitCode = UNUSABLE;
} else {
  await fuzz();
}

async function fuzz(): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  console.log(`seed ${seed}`);
  console.log(row(['target', 'executions', 'per s', 'corpus', 'new', 'blocks', 'findings']));
  const results: FuzzResult[] = [];
  for (const target of values.target) {
    if (stop.signal.aborted) break;
    const result = await fuzzTarget({
      target,
      seed,
      seconds: (minutes * 60) / values.target.length,
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
