/** `npm start`: records a page in the lab or at a URL, predicts, verifies and measures it, and writes the report (README.md, "Use"). */

import { runProgram } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { renderTerminal } from '../report/terminal.ts';
import { parseOptions } from './options.ts';
import { run } from './run.ts';

await runProgram(async ({ cleanup, signal, useScratch }) => {
  const options = parseOptions(process.argv.slice(2));
  await useScratch();
  const report = await run(options, { cleanup, progress: new Progress(), signal });
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : renderTerminal(report, process.stdout));
});
