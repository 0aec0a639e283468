import type { Command } from 'commander';
import type { ProgramContext } from '../command/program.ts';
import { Progress } from '../command/progress.ts';
import { isFaithful } from '../replay/check-replay.ts';
import { type RecordCommand, recordCommandWithOptions, recordOptions } from './options.ts';
import { type RecordRun, renderRecord, runRecord } from './run.ts';

/** `record URL`: see lab/docs/pages.md, "Recording a page". */
export function recordCommand(context: Pick<ProgramContext, 'signal' | 'useScratch'>): Command {
  const command = recordCommandWithOptions();
  return command.action(() => record(recordOptions(command), context));
}

async function record(
  command: RecordCommand,
  { signal, useScratch }: Pick<ProgramContext, 'signal' | 'useScratch'>,
): Promise<void> {
  await useScratch();
  const run = await runRecord(command, { progress: new Progress(), signal });
  process.stdout.write(command.json ? `${jsonOf(run)}\n` : renderRecord(run));
  if (!run.checks.every(isFaithful)) process.exitCode = 1;
}

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
