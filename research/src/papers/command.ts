/** A verdict for each claim of the papers. */
import { readFile, stat } from 'node:fs/promises';
import { UserError } from '@hopwise/lab/command/errors';
import { checkOutputFile } from '@hopwise/lab/command/output-folder';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { replaceFile } from '@hopwise/lab/command/write-file';
import type { Command } from 'commander';
import { allClaims } from './claims.ts';
import { type PapersOptions, papersCommandWithOptions, papersOptions } from './options.ts';
import { type JudgedClaim, judge, renderMarkdown, renderTable } from './report.ts';

/** `npm run research -- papers`. */
export function papersCommand(context: ProgramContext): Command {
  const command = papersCommandWithOptions();
  return command.action(() => judgePapers(papersOptions(command), context));
}

async function judgePapers(
  { paper, only, json, write, ...options }: PapersOptions,
  context: ProgramContext,
): Promise<void> {
  if (options.data !== undefined && !(await isFolder(options.data)))
    throw new UserError(`--data ${options.data}: expected a folder`, 2);
  if (write !== undefined) await checkOutputFile('--write', write);
  const claims = allClaims();
  const unknown = only?.find((id) => !claims.some((claim) => claim.id === id));
  if (unknown !== undefined) throw new UserError(`--only ${unknown}: expected ids of claims`, 2);
  const judged: JudgedClaim[] = [];
  for (const claim of claims) {
    if (paper !== undefined && claim.paper !== paper) continue;
    if (only !== undefined && !only.includes(claim.id)) continue;
    context.signal.throwIfAborted();
    judged.push(judge(claim, await claim.measure(options, context)));
  }
  if (write !== undefined) {
    // The folders are the reader's own.
    const words = process.argv
      .slice(3)
      .map((word) => (word === options.data || word === options.out ? 'DIR' : word));
    const before = await readFile(write, 'utf8').catch(() => '');
    await replaceFile(
      write,
      renderMarkdown({ claims, judged, command: ['npm run research -- papers', ...words].join(' '), before }),
    );
  }
  process.stdout.write(json ? `${JSON.stringify(judged, null, 1)}\n` : renderTable(judged));
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
