/** `npm run papers`: a verdict for each claim of the papers. */
import { readFile, stat } from 'node:fs/promises';
import { UserError } from '@hopwise/lab/command/errors';
import { runProgram } from '@hopwise/lab/command/program';
import { replaceFile } from '@hopwise/lab/command/write-file';
import { allClaims } from './claims.ts';
import { parseOptions } from './options.ts';
import { type Judged, judge, renderMarkdown, renderTable } from './report.ts';

await runProgram(async (context) => {
  const argv = process.argv.slice(2);
  const { paper, only, json, write, ...options } = parseOptions(argv);
  if (options.data !== undefined && !(await isFolder(options.data)))
    throw new UserError(`--data ${options.data}: expected a folder`, 2);
  const claims = allClaims();
  const unknown = only?.find((id) => !claims.some((claim) => claim.id === id));
  if (unknown !== undefined) throw new UserError(`--only ${unknown}: expected ids of claims`, 2);
  const judged: Judged[] = [];
  for (const claim of claims) {
    if (paper !== undefined && claim.paper !== paper) continue;
    if (only !== undefined && !only.includes(claim.id)) continue;
    context.signal.throwIfAborted();
    judged.push(judge(claim, await claim.measure(options, context)));
  }
  if (write !== undefined) {
    // The folders are the reader's own.
    const words = argv.map((word) => (word === options.data || word === options.out ? 'DIR' : word));
    const before = await readFile(write, 'utf8').catch(() => '');
    await replaceFile(
      write,
      renderMarkdown({ claims, judged, command: ['npm run papers --', ...words].join(' '), before }),
    );
  }
  process.stdout.write(json ? `${JSON.stringify(judged, null, 1)}\n` : renderTable(judged));
});

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
