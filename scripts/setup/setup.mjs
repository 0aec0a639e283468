/**
 * Set-up: everything that `npm start` and `npm test` need on a fresh Debian 12 machine with Node 20 or later. Runs only the
 * steps that are missing or out of date.
 */

import { rootPrefix } from './ask-root.mjs';
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

/**
 * Does every step that is not done.
 *
 * @param options.yes     do not ask before using root
 * @param options.verbose show what the programs print
 * @throws SetupError with one line that says what is missing and how to mend it
 */
export async function runSetup(steps, { yes = false, verbose = false } = {}) {
  const print = (line) => process.stderr.write(`${line}\n`);
  if (steps.every((step) => step.check() === '')) return;
  await lock(print);
  try {
    await doSteps(steps, { yes, verbose, print });
  } finally {
    unlock();
  }
}

async function doSteps(steps, { yes, verbose, print }) {
  const started = Date.now();
  let done = 0;
  for (const step of steps) {
    const missing = step.check();
    if (missing === '') continue;
    done += 1;
    const stepStarted = Date.now();
    print(`set-up: ${step.what} (${missing}) …`);
    let latest = '';
    let asking = false;
    const log = (text) => {
      if (verbose) process.stderr.write(text);
      latest = lastLine(text) || latest;
    };
    // Compilers are silent until they are done.
    const clock = setInterval(() => {
      const seconds = Math.round((Date.now() - stepStarted) / 1000);
      if (!verbose && !asking) print(`        ${seconds} s${latest ? `: ${latest.slice(0, 100)}` : ''}`);
    }, 5000);
    const asRoot = async (why) => {
      asking = true;
      const prefix = await rootPrefix(why, { yes });
      asking = false;
      return prefix;
    };
    try {
      await step.run({ log, asRoot });
    } catch (error) {
      if (!step.optional || !(error instanceof SetupError)) throw error;
      print(`        ${error.message.split('\n')[0]}: ${step.optional}`);
      continue;
    } finally {
      clearInterval(clock);
    }
    const still = step.check();
    if (still !== '') throw new SetupError(`set-up of ${step.what} ran, but it is still missing: ${still}`);
    print(`        done in ${((Date.now() - stepStarted) / 1000).toFixed(1)} s`);
  }
  if (done > 0) print(`set-up: complete after ${Math.round((Date.now() - started) / 1000)} s\n`);
}
