/**
 * `npm test`: runs the suites and closes with the plain line `N passed, N failed`; shortly before it stand the failed tests. Runs
 * under Node 24, after the set-up.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArgumentError, readTestArguments } from '../setup/arguments.mjs';
import { type ChangedTests, listChangedFiles, readCommit, selectTests } from './changed.ts';
import { SEED_VARIABLE } from './draw-share.ts';
import { Lane } from './lane.ts';
import { endLeftProcesses } from './left-processes.ts';
import { addOutcome, describeOutcome, describeSlowest, newOutcome, type Outcome } from './outcome.ts';
import { SUITES, type Suite } from './suites.ts';

const NAMES = Object.keys(SUITES);

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}

/** Another seed with each commit, so that each case has its turn; the same one where there is no repository. */
let seed = readCommit() ?? '1';

function readArguments(): ChangedTests | { suites: string[]; packages?: undefined } {
  try {
    const given = readTestArguments(process.argv.slice(2));
    seed = given.seed ?? seed;
    if (given.since !== null) return selectTests(listChangedFiles(given.since));
    return { suites: given.suites ?? NAMES.filter((name) => SUITES[name]!.when !== 'long') };
  } catch (error) {
    const { message } = error as Error;
    refuse(error instanceof ArgumentError ? message : `hopwise: ${message}`);
  }
}

const { suites, packages } = readArguments();
process.env[SEED_VARIABLE] = seed;

/**
 * Temporary files of this run alone, so that leftovers of other programs are not taken for its own. The name is short: the
 * paths of browsers' sockets below it have at most 107 bytes (unix(7)).
 */
const scratch = mkdtempSync(join(tmpdir(), 'hopwise-'));
// Some tests become another user, with a folder in it.
chmodSync(scratch, 0o711);
process.env.TMPDIR = scratch;
// The tests start our programs hundreds of times: with a cache Node compiles each module once.
process.env.NODE_COMPILE_CACHE = join(scratch, 'compiled');

async function end(code: number): Promise<never> {
  await endLeftProcesses(scratch);
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}

const foreground = new Lane({ inBackground: false });
const background = new Lane({ inBackground: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () =>
    Promise.all([foreground.stop(signal), background.stop(signal)]).then(() => end(130)),
  );
}

/** Processor time of all programs on this machine, and the time there was, in seconds of one processor. */
function readProcessors(): { busy: number; all: number } {
  let busy = 0;
  let all = 0;
  for (const { times } of cpus()) {
    const spent = times.user + times.nice + times.sys + times.irq;
    busy += spent / 1000;
    all += (spent + times.idle) / 1000;
  }
  return { busy, all };
}

/** Runs the suites of these kinds one after another. */
async function runSuites(lane: Lane, ...kinds: Suite['when'][]): Promise<Outcome> {
  const total = newOutcome();
  for (const [name, { run, when }] of Object.entries(SUITES)) {
    if (!kinds.includes(when) || !suites.includes(name)) continue;
    const started = Date.now();
    const before = readProcessors();
    lane.say(`\n# ${name}`);
    const outcome = await run({ lane, scratch, ...(packages === undefined ? {} : { packages }) });
    addOutcome(total, outcome);
    const after = readProcessors();
    const busy = ((100 * (after.busy - before.busy)) / (after.all - before.all)).toFixed(0);
    const seconds = ((Date.now() - started) / 1000).toFixed(0);
    lane.say(
      `# ${name}: ${outcome.passed} passed, ${outcome.failed} failed, ${seconds} s, processors ${busy}% busy`,
    );
    lane.flush();
  }
  return total;
}

/** Temporary folders of hopwise and of the tests' browsers: to leave one behind is a failure. */
function findLeftovers(): string[] {
  return readdirSync(scratch).filter((name) =>
    /^(hopwise-|hw-|playwright[-_](artifacts|chromiumdev))/.test(name),
  );
}

const total = newOutcome();
/** With nothing in the foreground there is nothing to wait beside. */
const hasForeground = suites.some((name) => SUITES[name]!.when === 'foreground');
const besides = runSuites(hasForeground ? background : foreground, 'background');
addOutcome(total, await runSuites(foreground, 'foreground'));
addOutcome(total, await besides);
addOutcome(total, await runSuites(foreground, 'alone', 'long'));

const leftovers = findLeftovers();
if (leftovers.length > 0) console.log(`left behind in ${tmpdir()}: ${leftovers.join(', ')}`);
if (leftovers.length === 0) total.passed += 1;
// A test that fails may not reach its clean-up.
else if (total.failed > 0) total.skipped += 1;
else {
  total.failed += 1;
  total.failures.push({
    where: 'npm test',
    what: 'leaves no temporary folder behind',
    why: leftovers.join(', '),
  });
}
const left = await endLeftProcesses(scratch);
if (left > 0) console.log(`ended ${left} processes that tests had left running`);
console.log(`cases and files drawn by: npm test -- --seed ${seed}`);
for (const line of [...describeSlowest(total), ...describeOutcome(total)]) console.log(line);
await end(total.failed === 0 ? 0 : 1);
