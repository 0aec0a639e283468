/**
 * Set-up: everything that `npm start` and `npm test` need on a fresh Debian 12 machine with Node 20 or later. Runs only the
 * steps that are missing or out of date.
 */

import { rootPrefix } from './ask-root.mjs';
import { joinPrograms } from './debian.mjs';
import { lock, unlock } from './lock.mjs';
import { lastLine, SetupError } from './programs.mjs';
import { labObstacle, STEPS } from './steps.mjs';

/** Prints what is there and what is missing; changes nothing. Returns whether all is there. */
export function checkSetup(print = (line) => console.log(line)) {
  let complete = true;
  for (const step of STEPS.all) {
    const missing = step.check();
    complete &&= missing === '' || step.optional !== undefined;
    print(
      `${missing === '' ? 'ok     ' : step.optional ? 'absent ' : 'missing'}  ${step.name.padEnd(12)} ${step.what}${missing ? `: ${missing}` : ''}`,
    );
  }
  const obstacle = labObstacle();
  // Set-up cannot grant these; live runs work without them.
  if (obstacle === '') print('ok       rights       for the lab');
  else if (obstacle !== null) print(`absent   rights       for the lab: ${obstacle}`);
  return complete;
}

/** Whether all steps are done. */
export const isSetUp = (steps) => steps.every((step) => step.check() === '');

/**
 * Does every step that is not done.
 *
 * @param options.yes     do not ask before using root
 * @param options.verbose show what the programs print
 * @throws SetupError with one line that says what is missing and how to mend it
 */
export async function runSetup(steps, { yes = false, verbose = false } = {}) {
  const print = (line) => process.stderr.write(`${line}\n`);
  if (isSetUp(steps)) return;
  await lock(print);
  try {
    await doSteps(steps, { yes, verbose, print });
  } finally {
    unlock();
  }
}

/**
 * Does steps side by side, each once those that it names in `after` are done. A step that fails lets the others end: an
 * interrupted installation would leave more behind.
 */
export async function doSteps(steps, { yes, verbose, print }) {
  const started = Date.now();
  const running = new Set();
  let done = 0;
  // Lines wait while a person is asked, and questions for each other.
  let held = null;
  const say = (line) => (held === null ? print(line) : held.push(line));
  let lastQuestion = Promise.resolve();
  const asRoot = (why) => {
    const answer = lastQuestion.then(async () => {
      held = [];
      try {
        return await rootPrefix(why, { yes });
      } finally {
        held.forEach(print);
        held = null;
      }
    });
    lastQuestion = answer.catch(() => {});
    return answer;
  };
  // Compilers are silent until they are done.
  const clock = setInterval(() => {
    if (verbose || held !== null) return;
    for (const { what, since, latest } of running) {
      const seconds = Math.round((Date.now() - since) / 1000);
      print(`        ${seconds} s, ${what}${latest ? `: ${latest.slice(0, 100)}` : ''}`);
    }
  }, 5000);

  async function doStep(step) {
    const missing = step.check();
    if (missing === '') return;
    done += 1;
    const run = { what: step.what, since: Date.now(), latest: '' };
    running.add(run);
    say(`set-up: ${step.what} (${missing}) …`);
    const log = (text) => {
      if (verbose) process.stderr.write(text);
      run.latest = lastLine(text) || run.latest;
    };
    try {
      await step.run({ log, asRoot, print: say });
    } catch (error) {
      if (!step.optional || !(error instanceof SetupError)) throw error;
      say(`        ${error.message.split('\n')[0]}: ${step.optional}`);
      return;
    } finally {
      running.delete(run);
    }
    const still = step.check();
    if (still !== '') throw new SetupError(`set-up of ${step.what} ran, but it is still missing: ${still}`);
    say(`        ${step.what}: done in ${((Date.now() - run.since) / 1000).toFixed(1)} s`);
  }

  const ends = new Map();
  try {
    for (const step of joinPrograms(steps)) {
      const before = (step.after ?? []).map((name) => ends.get(name));
      const end = Promise.all(before).then(() => doStep(step));
      for (const name of step.names ?? [step.name]) ends.set(name, end);
    }
    const failed = (await Promise.allSettled(ends.values())).find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  } finally {
    clearInterval(clock);
  }
  if (done > 0) print(`set-up: complete after ${Math.round((Date.now() - started) / 1000)} s\n`);
}
