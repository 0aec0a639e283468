/** `npm run record`: see e2e/README.md, "Recording a page". */
import { CommanderError } from 'commander';
import { makeScratch, removeScratch } from '../scratch.ts';
import { Cleanup } from '../start/cleanup.ts';
import { firstLine, UserError } from '../start/errors.ts';
import { Progress } from '../start/progress.ts';
import { parseRecordOptions } from './options.ts';
import { type RecordRun, renderRecord, runRecord } from './run.ts';

const stop = new AbortController();
const cleanup = new Cleanup();
const say = (line: string) => process.stderr.write(`hopwise: ${line}\n`);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stop.abort(new UserError(`stopped by ${signal}`)));
}
process.on('disconnect', () => stop.abort(new UserError('stopped: the npm script ended')));
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) =>
    stop.abort(new UserError(`stopped: nobody reads its output (${error.message})`)),
  );
}

let scratch: string | undefined;
let working: Promise<RecordRun> | undefined;
try {
  const command = parseRecordOptions(process.argv.slice(2));
  scratch = await makeScratch('run');
  // Playwright and Chromium put their own temporary files there.
  process.env.TMPDIR = scratch;
  const aborted = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
  });
  working = runRecord(command, { cleanup, progress: new Progress(), signal: stop.signal });
  const run = await Promise.race([working, aborted]);
  process.stdout.write(command.json ? `${jsonOf(run)}\n` : renderRecord(run));
  if (run.checks.some(({ failure }) => failure !== null)) process.exitCode = 1;
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else if (error instanceof UserError) {
    say(error.message);
    process.exitCode = stop.signal.aborted ? 130 : error.exitCode;
  } else {
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

function jsonOf({ page, out, checks, unchecked }: RecordRun): string {
  return JSON.stringify({
    out,
    entry: page.site.entry,
    resources: page.site.resources.length,
    origins: page.site.origins.length,
    requests: page.requests,
    notes: page.notes,
    checks: checks.map(({ log: _, ...check }) => check),
    unchecked,
  });
}
