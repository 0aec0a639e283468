/** `npm run bench -- browser-faults --browser firefox --cases 40 --seed 7`: random faults in a real browser. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SHARE_VARIABLE } from '../../../scripts/suites/draw-share.ts';

const USAGE = `npm run bench -- browser-faults --browser chromium|firefox [--cases 21] [--seed N] [--fault NAME]
  --cases N     how many, in rounds of 21 with successive seeds
  --seed N      the draws of the first round; the time of day unless given
  --fault NAME  only this fault of each round, such as reset`;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

function readArguments() {
  try {
    return parseArgs({
      options: {
        browser: { type: 'string' },
        cases: { type: 'string', default: '21' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        fault: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    console.error(`browser-faults: ${(error as Error).message.split('\n')[0]}`);
    process.exit(2);
  }
}

const values = readArguments();
const { browser, cases, seed, fault } = values;
const isValid =
  /^(chromium|firefox)$/.test(browser ?? '') && [cases, seed].every((word) => /^\d+$/.test(word));
if (values.help) console.log(USAGE);
else if (!isValid) {
  console.error(
    'browser-faults: expected --browser chromium or firefox, and whole numbers for --cases and --seed; --help shows all',
  );
  process.exitCode = 2;
} else {
  console.log(`seed ${seed}`);
  const env = {
    ...process.env,
    [SHARE_VARIABLE]: 'all',
    HOPWISE_FAULTS_BROWSER: browser,
    HOPWISE_FAULTS_CASES: cases,
    HOPWISE_FAULTS_SEED: seed,
    ...(fault === undefined ? {} : { HOPWISE_FAULTS_CASE: fault }),
  };
  const words = ['run', '--project', 'integration', '--reporter', 'verbose', 'extension/test/pins/faults'];
  const program = `${ROOT}node_modules/vitest/vitest.mjs`;
  const child = spawn(process.execPath, [program, ...words], { cwd: ROOT, env, stdio: 'inherit' });
  child.once('close', (code) => {
    process.exitCode = code ?? 1;
  });
}
