/** `npm start`: see README.md, "The main job". */
import { CommanderError } from 'commander';
import type { Report } from '../report/report.ts';
import { renderTerminal } from '../report/terminal.ts';
import { makeScratch, removeScratch } from '../scratch.ts';
import { Cleanup } from './cleanup.ts';
import { firstLine, UserError } from './errors.ts';
import { parseOptions } from './options.ts';
import { Progress } from './progress.ts';
import { run } from './run.ts';

const stop = new AbortController();
const cleanup = new Cleanup();
/** A terminal's line may hold progress. */
const ERASE_LINE = process.stderr.isTTY ? '\r\x1b[2K' : '';
const say = (line: string) => process.stderr.write(`${ERASE_LINE}hopwise: ${line}\n`);

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

/** Bytes: Chromium's `/org.chromium.Chromium.XXXXXX/SingletonSocket` below it must fit a socket's address (unix(7)). */
const LONGEST_SCRATCH = 107 - 45;
let scratch: string | undefined;
let working: Promise<Report> | undefined;
try {
  const options = parseOptions(process.argv.slice(2));
  scratch = await makeScratch('run').catch((error) => {
    throw new UserError(
      `no scratch folder: ${firstLine(error)}: set TMPDIR to a folder that you may write to`,
    );
  });
  if (Buffer.byteLength(scratch) > LONGEST_SCRATCH) {
    throw new UserError(
      `${scratch} is too long a path for Chromium: set TMPDIR to a shorter one, such as /tmp`,
    );
  }
  // Playwright and Chromium put their own temporary files there too.
  process.env.TMPDIR = scratch;
  const aborted = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
  });
  working = run(options, { cleanup, progress: new Progress(), signal: stop.signal });
  const report = await Promise.race([working, aborted]);
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : renderTerminal(report, process.stdout));
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
    await removeScratch(scratch).catch((error) => say(`could not clean up ${scratch}: ${firstLine(error)}`));
  }
  if (process.connected) process.disconnect();
}
