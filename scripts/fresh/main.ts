/** `npm run test:fresh`: both commands of README on a fresh Debian 12 machine, as root and as an ordinary user. Runs as root. */
import { createWriteStream, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ArgumentError, readFreshArguments } from '../setup/arguments.mjs';
import { ROOT } from '../setup/programs.mjs';
import { BareRoot, USERS, type User } from './bare-root.ts';
import { failureLines, type Outcome, outcomeOf, summaryLines } from './outcome.ts';

const COMMANDS = { start: ['npm', 'start'], test: ['npm', 'test'] } as const;
type Command = keyof typeof COMMANDS;
const RUNS = (Object.keys(USERS) as User[]).flatMap((user) =>
  (Object.keys(COMMANDS) as Command[]).map((command) => ({ name: `${user}-${command}`, user, command })),
);
const PROGRESS_MS = 30_000;

/** What exists now and must not stay. */
let root: BareRoot | null = null;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    await root?.remove();
    process.exit(130);
  });
}

/** Runs one command in a root of its own. */
async function runFresh({ name, user, command }: (typeof RUNS)[number], words: string[]): Promise<Outcome> {
  const started = Date.now();
  const minutes = () => (Date.now() - started) / 60_000;
  const file = join(ROOT, 'out/fresh', `${name}.log`);
  mkdirSync(join(ROOT, 'out/fresh'), { recursive: true });
  const stream = createWriteStream(file);
  let printed = '';
  const log = (text: string): void => {
    stream.write(text);
    printed = (printed + text).slice(-100_000);
  };
  console.log(`${name}: all it prints is in ${relative(ROOT, file)}`);
  const progress = setInterval(() => {
    const last = printed.trimEnd().split('\n').at(-1)!.slice(0, 100);
    console.log(`${name}: ${minutes().toFixed(1)} min: ${last}`);
  }, PROGRESS_MS);
  try {
    root = await BareRoot.create({ user, log });
    const code = await root.run([...COMMANDS[command], ...(words.length > 0 ? ['--', ...words] : [])], log);
    const isReported = command === 'test' || root.has('out/report.html');
    return { name, ...outcomeOf(printed, code, isReported), minutes: minutes() };
  } finally {
    clearInterval(progress);
    await root?.remove();
    root = null;
    stream.end();
  }
}

async function main(): Promise<number> {
  const { runs, words } = readFreshArguments(process.argv.slice(2));
  if (process.getuid?.() !== 0)
    throw new Error('it mounts file systems and becomes other users: run it as root');
  const outcomes: Outcome[] = [];
  for (const run of RUNS.filter(({ name }) => runs.includes(name))) {
    const outcome = await runFresh(run, words);
    for (const line of failureLines(outcome)) console.log(line);
    outcomes.push(outcome);
  }
  for (const line of summaryLines(outcomes)) console.log(line);
  return outcomes.every(({ failed }) => failed === 0) ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const { message } = error as Error;
  const isRefused = error instanceof ArgumentError;
  console.error(isRefused ? message : `hopwise: ${message}`);
  process.exitCode = isRefused ? 2 : 1;
}
