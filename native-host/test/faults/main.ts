/** `npm run faults -- --cases 2000 --seed 7`: any number of random faults. Ctrl-C ends it after the current batches. */
import { parseArgs } from 'node:util';
import { runFaults } from './run.ts';

const USAGE = `npm run faults -- [--cases 200] [--seed N] [--batch N [--case N]]
  --cases N  how many
  --seed N   the draws; the time of day unless given
  --batch N  only this one of the batches, each of which shares a host
  --case N   only this one of the batch
With --browser chromium|firefox in a real browser: see npm run faults -- --browser chromium --help`;

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    batch: { type: 'string' },
    case: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  console.log(USAGE);
} else {
  const [seed, cases] = [Number(values.seed), Number(values.cases)];
  const batch = values.batch === undefined ? undefined : Number(values.batch);
  const numbers = [seed, cases, batch ?? 0];
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) throw new Error(USAGE);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  console.log(`seed ${seed}`);
  const outcome = await runFaults({
    seed,
    cases,
    ...(batch === undefined ? {} : { batch }),
    ...(values.case === undefined ? {} : { only: Number(values.case) }),
    signal: stop.signal,
    onBatch: ({ name, hostFault }, wrong, done) => {
      console.log(`${done} of ${cases}: batch ${name}${hostFault ? ` ${hostFault}` : ''}`);
      for (const line of wrong) console.log(`  ${line}`);
    },
  });
  console.log(`${outcome.cases} cases, ${outcome.wrong.length} faults of the helper`);
  process.exitCode = outcome.wrong.length > 0 ? 1 : 0;
}
