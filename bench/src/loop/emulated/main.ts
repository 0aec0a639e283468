/** `npm run bench -- loop-emulated`: the extension's autopilot on emulated loads of pages that are visited again and again. */
import { runProgram } from '@hopwise/lab/command/program';
import { Progress } from '@hopwise/lab/command/progress';
import { judgeLoop } from '../judge-loop.ts';
import { judgeRuns } from '../judge-runs.ts';
import { showLoop } from '../loop-table.ts';
import { showRuns } from '../runs-table.ts';
import { judgePinUses } from './judge-pin-uses.ts';
import { parseOptions } from './options.ts';
import { showPinUses } from './pin-uses-table.ts';
import { runEmulated } from './run-emulated.ts';

const INTRODUCTION = [
  'The extension’s autopilot on emulated loads, at each visit beside the browser alone and fixed protocols on the same network with the same',
  'losses. Geometric means of mean load times over pages, with 95% intervals.',
];

await runProgram(async ({ signal }) => {
  const { json, ...plan } = parseOptions(process.argv.slice(2));
  const progress = new Progress();
  const visits = await runEmulated(plan, { signal, report: (text) => progress.detail(text) });
  const loop = plan.explores ? 'explore' : 'auto';
  const [figures, runs, pinUses] = [judgeLoop(loop, visits), judgeRuns(loop, visits), judgePinUses(visits)];
  process.stdout.write(
    json
      ? `${JSON.stringify({ figures, runs, pinUses }, null, 1)}\n`
      : [showLoop(INTRODUCTION, figures), showRuns(runs), showPinUses(pinUses)].join('\n'),
  );
});
