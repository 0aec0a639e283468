/** `npm run lab`: see lab/docs/measuring.md. */

import { resolve } from 'node:path';
import { unifyErrors } from '@hopwise/contract/command-line';
import { Command } from 'commander';
import { adviseCommand } from './advise/command.ts';
import { runProgram } from './command/program.ts';
import { gauntletCommand } from './gauntlet/command.ts';
import { measureMatrix } from './matrix/measure-command.ts';
import { addMatrixOptions, matrixOptions } from './matrix/options.ts';
import { checkCommand } from './pages/check-command.ts';
import { recordCommand } from './record/command.ts';
import { requestsCommand } from './requests/command.ts';
import { summariseFolder } from './summary/command.ts';

await runProgram(async (context) => {
  const command = new Command()
    .name('npm run lab --')
    .description(
      'Measures ground truth: page load times in a real browser, by page, network and protocol. Each load is kept: the same command continues an interrupted run.',
    )
    .exitOverride()
    // Subcommands have options of the same names.
    .enablePositionalOptions()
    .action(async () => {
      const options = matrixOptions(command);
      const result = await measureMatrix(options, context);
      if (result === null) return;
      process.stdout.write(await summariseFolder(resolve(options.out), { json: false }));
    });
  addMatrixOptions(command);
  command
    .command('summary')
    .description('summarises a folder of measured loads: table, summary.json, plots and index.html')
    .argument('<dir>', 'the folder')
    .option('--json', 'print the summary as JSON', false)
    .action(async (dir: string, { json }: { json: boolean }) => {
      process.stdout.write(await summariseFolder(resolve(dir), { json }));
    });
  command.addCommand(adviseCommand(context));
  command.addCommand(checkCommand(context));
  command.addCommand(gauntletCommand(context));
  command.addCommand(recordCommand(context));
  command.addCommand(requestsCommand(context));
  unifyErrors(command);
  await command.parseAsync(process.argv.slice(2), { from: 'user' });
});
