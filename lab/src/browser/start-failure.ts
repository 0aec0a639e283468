import { basename } from 'node:path';
import { firstLine, messageOf } from '@hopwise/contract';
import { UserError } from '../command/errors.ts';
import { type BrowserKind, browserProgram } from './browser-program.ts';

/** What a program wrote to standard error, in Playwright's log of a browser that did not start. */
const WRITTEN = /\[pid=\d+\]\[err\] (.+)$/gm;
/** Chromium's `[process:thread:date/time:LEVEL:file.cc(line)] `. */
const LOG_PREFIX = /^\[\d+:\d+:[^\]]*\] /;
const COMPLAINT = /error|fatal|cannot|can't|not found|denied|sandbox|not supported|no such|display/i;
/** Playwright dims its log. */
const DIMMING = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
const MAX_QUOTED = 200;

/**
 * Makes one line of Playwright's error that a Chromium did not start, which has a command line of thousands of characters twice: what the
 * program did, what it complained of, and what to do.
 *
 * @param thrown by `launch` or `launchPersistentContext`
 * @param executablePath what was started: the program, or a script of the lab that enters its namespaces and is named like it
 * @param who the browser at the start of the line
 */
export function startFailure(thrown: unknown, executablePath: string, who = 'Chromium'): UserError {
  const kind: BrowserKind = /headless.?shell/.test(executablePath) ? 'headless-shell' : 'full';
  const variable = kind === 'full' ? 'HOPWISE_CHROMIUM' : 'HOPWISE_HEADLESS_SHELL';
  return new UserError(
    `${who} did not start: ${programOf(executablePath, kind)} ${causeIn(thrown)}: reinstall it, or set ${variable} to the path of one that runs`,
  );
}

/** The program that a script of the lab runs. */
function programOf(executablePath: string, kind: BrowserKind): string {
  try {
    const usual = browserProgram(kind);
    return basename(executablePath).startsWith(basename(usual)) ? usual : executablePath;
  } catch {
    return executablePath;
  }
}

function causeIn(thrown: unknown): string {
  const message = messageOf(thrown).replace(DIMMING, '');
  const [, code] = /spawn .+ (E[A-Z]+)$/m.exec(message) ?? [];
  if (code !== undefined) return `cannot be run (${code})`;
  const did = endingIn(message) ?? `failed (${firstLine(thrown).replace(/^browserType\.\w+: /, '')})`;
  const said = complaintIn(message);
  return said === null ? did : `${did}, saying "${said}"`;
}

function endingIn(message: string): string | null {
  const [, seconds] = /Timeout (\d+)000ms exceeded/.exec(message) ?? [];
  if (seconds !== undefined) return `gave no answer within ${seconds} s`;
  const [, exitCode, signal] = /<process did exit: exitCode=(\w+), signal=(\w+)>/.exec(message) ?? [];
  if (exitCode === undefined) return null;
  return signal === 'null' ? `ended with exit code ${exitCode}` : `was ended by ${signal}`;
}

/** The line that says most of what is wrong: the last complaint, else the last line. */
function complaintIn(message: string): string | null {
  const lines = [...message.matchAll(WRITTEN)].map(([, line]) => line!.replace(LOG_PREFIX, '').trim());
  const said = lines.findLast((line) => COMPLAINT.test(line)) ?? lines.at(-1);
  if (said === undefined) return null;
  return said.length > MAX_QUOTED ? `${said.slice(0, MAX_QUOTED - 1)}…` : said;
}
