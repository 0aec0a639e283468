/** `npm run record`: see lab/docs/pages.md, "Recording a page". */

import { runProgram } from '../command/program.ts';
import { Progress } from '../command/progress.ts';
import { isFaithful } from '../replay/check-replay.ts';
import { parseRecordOptions } from './options.ts';
import { type RecordRun, renderRecord, runRecord } from './run.ts';

await runProgram(async ({ signal, useScratch }) => {
  const command = parseRecordOptions(process.argv.slice(2));
  await useScratch();
  const run = await runRecord(command, { progress: new Progress(), signal });
  process.stdout.write(command.json ? `${jsonOf(run)}\n` : renderRecord(run));
  if (!run.checks.every(isFaithful)) process.exitCode = 1;
});

function jsonOf({ page, out, checks, unchecked }: RecordRun): string {
  return JSON.stringify({
    out,
    entry: page.site.entry,
    resources: page.site.resources.length,
    origins: page.site.origins.length,
    requests: page.requests,
    notes: page.notes,
    checks,
    unchecked,
  });
}
