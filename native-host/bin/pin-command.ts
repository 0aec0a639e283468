/** `hopwise-host pin` and `unpin`: through the hosts of connected browsers, and in the store for later sessions. */

import type { PinKind, PinState } from '@hopwise/contract';
import { UsageError } from '../src/base/errors.ts';
import { launcherCommand } from '../src/base/launcher.ts';
import { authorityStatus } from '../src/ca/authority-status.ts';
import { hostsOf, readOrigin } from '../src/ca/hosts.ts';
import { askHosts, type ControlQuestion, type HostAnswer } from '../src/control/control-client.ts';
import type { ControlStatus } from '../src/control/control-messages.ts';
import { explainEveryOrigin, explainLocalOrigin } from '../src/pins/origin.ts';
import { createPin } from '../src/pins/pin.ts';
import { pinLine } from '../src/pins/pin-status.ts';
import { FilePinStore } from '../src/pins/pin-store.ts';
import { explainUnknownUsers } from '../src/pins/proxy/socket-users.ts';
import { EXIT_FAILURE, print, printJson } from './output.ts';

interface PinCommandOptions {
  as: PinKind;
  minutes?: number;
  keep?: boolean;
  allowLocal?: boolean;
  browser?: string;
  json?: boolean;
}

interface UnpinCommandOptions {
  all?: boolean;
  browser?: string;
  json?: boolean;
}

/** The extension starts its host for pins and ends it when there are none, so that an open browser may have no session. */
const WHEN_CONNECTED =
  'The hopwise extension connects when the browser starts with pins allowed, or when an origin is pinned in its popup';

/** One browser's outcome, as `--json` prints it. */
interface Outcome {
  browser: string;
  pid: number;
  pin?: PinState;
  problem: string;
}

/**
 * Pins an origin in every connected browser. Without one, the pin is stored and the next session takes it up. Exits with 1 when a
 * browser refused the pin.
 */
export async function pinCommand(argument: string, options: PinCommandOptions): Promise<void> {
  const origin = readOrigin(argument);
  const { as: kind, minutes = null, keep: persistent = false, allowLocal, json } = options;
  const pin = { origin, kind, persistent, allowLocal };
  const obstacle = explainEveryOrigin(pin) || explainLocalOrigin(pin);
  if (obstacle !== '') throw new UsageError(obstacle);
  const missing = explainUnknownUsers();
  if (missing !== '') throw new Error(missing);
  // A local CA cannot certify an address.
  const [host] = kind === 'avoid-h3' ? [] : hostsOf([origin]);
  const answers = await ask({ type: 'pin', ...pin, minutes }, options.browser);
  if (answers.length === 0) {
    if (options.browser !== undefined && !persistent) throw new Error(notConnected(options.browser));
    new FilePinStore().keep(createPin({ ...pin, minutes }));
    if (json) printJson({ origin, kind, kept: persistent, waiting: true, browsers: [] });
    else {
      const sessions = persistent ? 'every session' : 'one session';
      print(`${origin} ${kind}: stored for ${sessions}, and not yet in effect. ${WHEN_CONNECTED}`);
      if (host !== undefined && !authorityStatus().hosts.includes(host))
        print(
          `It needs a local CA for ${host}, which does not exist yet: ${launcherCommand(`ca create ${origin}`)}`,
        );
    }
    return;
  }
  const outcomes = answers.map((answer) => outcomeOf(answer, origin));
  const kept = outcomes.some(({ pin }) => pin?.persistent === true);
  if (json) printJson({ origin, kind, kept, waiting: false, browsers: outcomes });
  else {
    for (const { browser, pid, pin, problem } of outcomes) {
      print(`${browser} (process ${pid}): ${pin ? pinLine(pin) : problem}`);
    }
    if (persistent && !kept) print(`${origin} is not stored for later sessions: see the log for the reason`);
  }
  const done = outcomes.every(({ problem }) => problem === '') && (kept || !persistent);
  if (!done) process.exitCode = EXIT_FAILURE;
}

/** Exits with 1 when a browser failed to unpin. */
export async function unpinCommand(
  argument: string | undefined,
  options: UnpinCommandOptions,
): Promise<void> {
  if ((argument === undefined) === (options.all !== true))
    throw new UsageError('expected either an origin or --all');
  const origin = argument === undefined ? null : readOrigin(argument);
  const answers = await ask({ type: 'unpin', origin }, options.browser);
  if (options.browser !== undefined && answers.length === 0) throw new Error(notConnected(options.browser));
  const unpinned = new Set(statuses(answers).flatMap((status) => status.unpinned));
  // Stored pins that no session has taken up.
  const store = new FilePinStore();
  for (const { origin: stored } of store.load().pins) {
    if (origin !== null && origin !== stored) continue;
    store.drop(stored);
    unpinned.add(stored);
  }
  const problems = answers.flatMap(({ pid, answer }) =>
    answer.type === 'error' ? [`process ${pid}: ${answer.message}`] : [],
  );
  if (options.json) printJson({ unpinned: [...unpinned], problems });
  else {
    for (const one of unpinned) print(`unpinned ${one}`);
    for (const problem of problems) print(problem);
    if (unpinned.size === 0 && problems.length === 0)
      print(`${origin ?? 'nothing'} was ${origin ? 'not ' : ''}pinned`);
  }
  if (problems.length > 0) process.exitCode = EXIT_FAILURE;
}

/** The answers of all connected browsers, or of `browser`. */
async function ask(question: ControlQuestion, browser: string | undefined): Promise<HostAnswer[]> {
  if (browser === undefined) return askHosts(question);
  const running = await askHosts({ type: 'status' });
  const pids = running.flatMap(({ pid, answer }) =>
    answer.type === 'status' && answer.browser === browser ? [pid] : [],
  );
  return pids.length === 0 ? [] : askHosts(question, pids);
}

function statuses(answers: readonly HostAnswer[]): ControlStatus[] {
  return answers.flatMap(({ answer }) => (answer.type === 'status' ? [answer] : []));
}

function outcomeOf({ pid, answer }: HostAnswer, origin: string): Outcome {
  if (answer.type === 'error') return { browser: 'host', pid, problem: answer.message };
  const pin = answer.pins.find((found) => found.origin === origin);
  const problem = pin && pin.state !== 'lifted' ? '' : (pin?.reason ?? 'the pin has ended already');
  return { browser: answer.browser, pid, pin, problem };
}

function notConnected(browser: string): string {
  return `the extension in ${browser} is not connected. ${WHEN_CONNECTED}`;
}
