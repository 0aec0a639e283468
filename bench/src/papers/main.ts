/** `npm run papers`: a verdict for each claim of the papers. */
import { readFile, stat } from 'node:fs/promises';
import { UserError } from '@hopwise/lab/command/errors';
import { runProgram } from '@hopwise/lab/command/program';
import { replaceFile } from '@hopwise/lab/command/write-file';
import type { Finding } from './claim.ts';
import { allClaims } from './claims.ts';
import { parseOptions } from './options.ts';
import { type Judged, judge, renderMarkdown, renderTable } from './report.ts';

const NOT_WANTED: Finding = { kind: 'skipped', reason: 'left out by --claims' };

await runProgram(async (context) => {
  const argv = process.argv.slice(2);
  const { paper, claims, json, write, ...options } = parseOptions(argv);
  if (options.data !== undefined && !(await isFolder(options.data)))
    throw new UserError(`--data ${options.data}: expected a folder`, 2);
  const judged: Judged[] = [];
  for (const claim of allClaims()) {
    if (paper !== undefined && claim.paper !== paper) continue;
    context.signal.throwIfAborted();
    const isWanted = claims === undefined || claim.id.startsWith(claims);
    judged.push(judge(claim, isWanted ? await claim.measure(options, context) : NOT_WANTED));
  }
  if (write !== undefined) {
    // The folders are the reader's own.
    const words = argv.map((word) => (word === options.data || word === options.keep ? 'DIR' : word));
    const before = await readFile(write, 'utf8').catch(() => '');
    await replaceFile(write, renderMarkdown(judged, ['npm run papers --', ...words].join(' '), before));
  }
  process.stdout.write(json ? `${JSON.stringify(judged, null, 1)}\n` : renderTable(judged));
});

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
