/** `npm run bench -- faults --cases 2000 --seed 7`: any number of random faults. Ctrl-C ends it after the current batches. */
import { integer } from '@hopwise/lab/command/option-types';
import { describeCost } from '../../../native-host/test/faults/batch-cost.ts';
import { runFaults } from '../../../native-host/test/faults/run.ts';
import { benchCommand, parseOrExit } from '../bench-command.ts';

const command = benchCommand(
  'faults',
  'Makes exchanges of pinned origins under random faults in mid-transfer.',
)
  .option('--cases <n>', 'how many', integer(1, 1_000_000), 200)
  .option('--seed <n>', 'of the draws', integer(0, Number.MAX_SAFE_INTEGER), Date.now() % 1_000_000)
  .option('--batch <n>', 'only this one of the batches, each of which shares a host', integer(0, 1_000_000))
  .option('--case <n>', 'only this one of the batch', integer(0, 1_000_000))
  .addHelpText('after', '\nIn a real browser: npm run bench -- browser-faults --help');
const {
  seed,
  cases,
  batch,
  case: only,
} = parseOrExit(command).opts<{ seed: number; cases: number; batch?: number; case?: number }>();
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
console.log(`seed ${seed}`);
const outcome = await runFaults({
  seed,
  cases,
  ...(batch === undefined ? {} : { batch }),
  ...(only === undefined ? {} : { only }),
  signal: stop.signal,
  onBatch: ({ name, hostFault }, { wrong, cost }, done) => {
    console.log(
      `${done} of ${cases}: batch ${name}${hostFault ? ` ${hostFault}` : ''} ${describeCost(cost)}`,
    );
    for (const line of wrong) console.log(`  ${line}`);
  },
});
console.log(`${outcome.cases} cases, ${outcome.wrong.length} faults of the helper`);
process.exitCode = outcome.wrong.length > 0 ? 1 : 0;
