/** `npm run bench -- faults --cases 2000 --seed 7`: any number of random faults. Ctrl-C ends it after the current batches. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { runFaults } from '../../../native-host/test/faults/run.ts';

const command = new Command('npm run bench -- faults')
  .description('Makes exchanges of pinned origins under random faults in mid-transfer.')
  .option('--cases <n>', 'how many', wholeNumber, 200)
  .option('--seed <n>', 'of the draws', wholeNumber, Date.now() % 1_000_000)
  .option('--batch <n>', 'only this one of the batches, each of which shares a host', wholeNumber)
  .option('--case <n>', 'only this one of the batch', wholeNumber)
  .addHelpText('after', '\nIn a real browser: npm run bench -- browser-faults --help')
  .allowExcessArguments(false)
  .exitOverride();
try {
  command.parse();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  throw error;
}
const {
  seed,
  cases,
  batch,
  case: only,
} = command.opts<{ seed: number; cases: number; batch?: number; case?: number }>();
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
console.log(`seed ${seed}`);
const outcome = await runFaults({
  seed,
  cases,
  ...(batch === undefined ? {} : { batch }),
  ...(only === undefined ? {} : { only }),
  signal: stop.signal,
  onBatch: ({ name, hostFault }, wrong, done) => {
    console.log(`${done} of ${cases}: batch ${name}${hostFault ? ` ${hostFault}` : ''}`);
    for (const line of wrong) console.log(`  ${line}`);
  },
});
console.log(`${outcome.cases} cases, ${outcome.wrong.length} faults of the helper`);
process.exitCode = outcome.wrong.length > 0 ? 1 : 0;

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}
