/** What the commands have in common: signals, scratch folder, errors as one line, cleaning up whatever happens. */
import { CommanderError } from 'commander';
import { Cleanup } from './cleanup.ts';
import { firstLine, UserError } from './errors.ts';
import { makeScratch, removeScratch } from './scratch.ts';

export interface ProgramContext {
  cleanup: Cleanup;
  /** Aborts with a UserError when the program is to end. */
  signal: AbortSignal;
  /** Prints a line to stderr, over whatever progress the terminal's line holds. */
  say(line: string): void;
  /** Makes the folder for all temporary files, also those of Playwright and Chromium; it is removed at the end. */
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
  // The process that started this one is gone, by whatever end: nobody waits for the result.
  process.on('disconnect', () => stop.abort(new UserError('stopped: the npm script ended')));
  // So is the terminal, or the reader of a pipe.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) =>
      stop.abort(new UserError(`stopped: nobody reads its output (${error.message})`)),
    );
  }

  let scratch: string | undefined;
  const useScratch = async () => {
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
    } else {
      // A defect of ours: the stack is what mends it.
      say(error instanceof Error && error.stack ? error.stack : firstLine(error));
      process.exitCode = 1;
    }
  } finally {
    await cleanup.run(say);
    // What was still starting is undone as soon as it is up.
    await working?.catch(() => undefined);
    await cleanup.run(say);
    if (scratch) {
      await removeScratch(scratch).catch((error) =>
        say(`could not clean up ${scratch}: ${firstLine(error)}`),
      );
    }
    if (process.connected) process.disconnect();
  }
}
