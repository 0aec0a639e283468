/** `npm run bench -- rollback`: what the rollback checker saves, as in WiseTrans's Table 4 (Zhang et al., WWW 2021). */
import { unifyErrors } from '@hopwise/contract/command-line';
import { integer } from '@hopwise/lab/command/option-types';
import { runProgram } from '@hopwise/lab/command/program';
import { Command } from 'commander';
import { showChecker } from './checker-table.ts';
import { judgeChecker } from './judge-checker.ts';
import { readCellTimes } from './read-cells.ts';
import { generatedSwitches, measuredSwitches } from './switches.ts';

const GENERATED_PER_EFFECT = 500;

interface Options {
  repeats: number;
  seed: number;
  earlier: number;
  firstFactor: number;
  json: boolean;
}

await runProgram(async () => {
  const command = new Command()
    .name('npm run bench -- rollback')
    .description(
      'Switches pages between protocols and follows 20 loads, with the rollback checker and without it: harm by a switch, loads until it is rolled back, false alarms.',
    )
    .argument('[dir]', 'folder of measured loads, of `npm run lab`; without it load times are generated')
    .option('--repeats <n>', 'how often each switch is followed', integer(1, 10_000), 20)
    .option('--seed <n>', 'of the draws', integer(0, 10_000), 1)
    .option('--earlier <n>', 'loads before each switch', integer(1, 50), 3)
    .option(
      '--first-factor <n>',
      'how many times as long as usual the first of them takes',
      integer(1, 10),
      1,
    )
    .option('--json', 'print the figures as JSON and nothing else', false)
    .exitOverride();
  unifyErrors(command);
  command.parse(process.argv.slice(2), { from: 'user' });
  const { repeats, seed, json, earlier, firstFactor } = command.opts<Options>();
  const [dir] = command.args;
  const switches =
    dir === undefined ? generatedSwitches(GENERATED_PER_EFFECT) : measuredSwitches(await readCellTimes(dir));
  const figures = judgeChecker(switches, repeats, seed, { loads: earlier, firstFactor });
  process.stdout.write(json ? `${JSON.stringify(figures, null, 1)}\n` : showChecker(figures));
});
