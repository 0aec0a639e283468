/** `npm run papers`: a verdict for each claim of the papers. */
import { readFile, stat } from 'node:fs/promises';
import { UserError } from '@hopwise/lab/command/errors';
import { runProgram } from '@hopwise/lab/command/program';
import { replaceFile } from '@hopwise/lab/command/write-file';
import type { Claim, Finding } from './claim.ts';
import { allClaims } from './claims.ts';
import { parseOptions } from './options.ts';
import { type Judged, judge, renderMarkdown, renderTable } from './report.ts';

const LEFT_OUT: Finding = { kind: 'skipped', reason: 'left out by --claims' };

await runProgram(async (context) => {
  const argv = process.argv.slice(2);
  const { paper, claims, json, write, ...options } = parseOptions(argv);
  if (options.data !== undefined && !(await isFolder(options.data)))
    throw new UserError(`--data ${options.data}: expected a folder`, 2);
  const isWanted = ({ id }: Pick<Claim, 'id'>) => claims === undefined || id.startsWith(claims);
  const judged: Judged[] = [];
  for (const claim of allClaims()) {
    if (paper !== undefined && claim.paper !== paper) continue;
    context.signal.throwIfAborted();
    judged.push(judge(claim, isWanted(claim) ? await claim.measure(options, context) : LEFT_OUT));
  }
  if (write !== undefined) {
    // The folders are the reader's own.
    const words = argv.map((word) => (word === options.data || word === options.keep ? 'DIR' : word));
    const before = await readFile(write, 'utf8').catch(() => '');
    await replaceFile(write, renderMarkdown(judged, ['npm run papers --', ...words].join(' '), before));
  }
  const wanted = judged.filter(isWanted);
  process.stdout.write(json ? `${JSON.stringify(wanted, null, 1)}\n` : renderTable(wanted));
});

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
