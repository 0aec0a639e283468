/** `npm run bench -- browser-faults --browser firefox --cases 40 --seed 7`: random faults in a real browser. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { integer } from '@hopwise/lab/command/option-types';
import { ROOT } from '@hopwise/lab/paths';
import { Option } from 'commander';
import { benchCommand, parseOrExit } from '../bench-command.ts';

const command = benchCommand(
  'browser-faults',
  'Makes exchanges of pinned origins under random faults in a real browser with the extension.',
)
  .addOption(
    new Option('--browser <name>', 'whose exchanges').choices(['chromium', 'firefox']).default('chromium'),
  )
  .option('--cases <n>', 'how many, in rounds of 21 with successive seeds', integer(1, 1_000_000), 21)
  .option(
    '--seed <n>',
    'of the draws of the first round',
    integer(0, Number.MAX_SAFE_INTEGER),
    Date.now() % 1_000_000,
  )
  .option('--fault <name>', 'only this fault of each round, such as reset');
const { browser, cases, seed, fault } = parseOrExit(command).opts<{
  browser: string;
  cases: number;
  seed: number;
  fault?: string;
}>();

console.log(`seed ${seed}`);
const env = {
  ...process.env,
  HOPWISE_FAULTS_BROWSER: browser,
  HOPWISE_FAULTS_CASES: String(cases),
  HOPWISE_FAULTS_SEED: String(seed),
  ...(fault === undefined ? {} : { HOPWISE_FAULTS_CASE: fault }),
};
const words = ['run', '--project', 'integration', '--reporter', 'verbose', 'extension/test/pins/faults'];
const program = join(ROOT, 'node_modules/vitest/vitest.mjs');
const child = spawn(process.execPath, [program, ...words], { cwd: ROOT, env, stdio: 'inherit' });
child.once('close', (code) => {
  process.exitCode = code ?? 1;
});
