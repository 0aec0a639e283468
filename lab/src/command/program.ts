/** What all commands share: signals, scratch folder, errors as one line, clean-up. */
import { firstLine } from '@hopwise/contract';
import { isOutOfRoom } from '@hopwise/contract/command-line';
import { CommanderError } from 'commander';
import { Cleanup } from './cleanup.ts';
import { UserError } from './errors.ts';
import { makeScratch, removeScratch } from './scratch.ts';

export interface ProgramContext {
  cleanup: Cleanup;
  /** Aborts with a UserError when the program is to end. */
  signal: AbortSignal;
  /** Prints a line to stderr, replacing the progress line on a terminal. */
  say(line: string): void;
  /**
   * Makes the folder for all temporary files, including those of Playwright and Chromium, once; it is removed at the end.
   */
  useScratch(): Promise<void>;
}

/** Bytes: Chromium's `/org.chromium.Chromium.XXXXXX/SingletonSocket` below it must fit a socket's address (unix(7)). */
const MAX_SCRATCH_BYTES = 107 - 45;

/** Runs a command to its end and sets the exit code: 0, 2 for unusable input, 130 when stopped, 1 for all else. */
export async function runProgram(work: (context: ProgramContext) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const cleanup = new Cleanup();
  const eraseLine = process.stderr.isTTY ? '\r\x1b[2K' : '';
  const say = (line: string) => process.stderr.write(`${eraseLine}hopwise: ${line}\n`);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort(new UserError(`stopped by ${signal}`)));
  }
  // The parent process has ended, so the result is no longer needed.
  process.on('disconnect', () => stop.abort(new UserError('stopped: the npm script ended')));
  // The terminal or the reader of the pipe has gone.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) =>
      stop.abort(new UserError(`stopped: its output is no longer read (${error.message})`)),
    );
  }

  let scratch: string | undefined;
  const useScratch = async () => {
    if (scratch !== undefined) return;
    scratch = await makeScratch('run').catch((error) => {
      throw new UserError(
        `no scratch folder: ${firstLine(error)}: set TMPDIR to a folder that you may write to`,
      );
    });
    if (Buffer.byteLength(scratch) > MAX_SCRATCH_BYTES) {
      throw new UserError(
        `${scratch} is too long a path for Chromium: set TMPDIR to a shorter one, such as /tmp`,
      );
    }
    process.env.TMPDIR = scratch;
  };

  let working: Promise<void> | undefined;
  try {
    const aborted = new Promise<never>((_, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
    });
    working = work({ cleanup, signal: stop.signal, say, useScratch });
    await Promise.race([working, aborted]);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else if (error instanceof UserError) {
      say(error.message);
      process.exitCode = stop.signal.aborted ? 130 : error.exitCode;
    } else if (isOutOfRoom(error)) {
      say(`${firstLine(error)}: make room, then give the same command again`);
      process.exitCode = 1;
    } else {
      // A defect of the program: print the stack.
      say(error instanceof Error && error.stack ? error.stack : firstLine(error));
      process.exitCode = 1;
    }
  } finally {
    await orIdle(cleanup.run(say));
    // Steps added later, for what was still starting, run as soon as they are added.
    await orIdle(working?.catch(() => undefined));
    await orIdle(cleanup.run(say));
    if (scratch) {
      await removeScratch(scratch).catch((error) =>
        say(`could not clean up ${scratch}: ${firstLine(error)}`),
      );
    }
    if (process.connected) process.disconnect();
  }
}

/**
 * Waits for a promise, or until nothing is left that could settle it, as after an answer from a browser that was ended: Node would
 * then end the process without the rest of the clean-up.
 */
async function orIdle(promise: Promise<void> | undefined): Promise<void> {
  let onIdle = () => {};
  const idle = new Promise<void>((resolve) => {
    // Something to do, without which Node ends the process after the event.
    onIdle = () => setImmediate(resolve);
  });
  process.once('beforeExit', onIdle);
  await Promise.race([promise, idle]);
  process.off('beforeExit', onIdle);
}
