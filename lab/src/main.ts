/** `npm run lab`: see lab/docs/measuring.md. */
import { resolve } from 'node:path';
import { adviseCommand } from '@hopwise/lab/advise/command';
import { runProgram } from '@hopwise/lab/command/program';
import { gauntletCommand } from '@hopwise/lab/gauntlet/command';
import { measureMatrix } from '@hopwise/lab/matrix/measure-command';
import { addMatrixOptions, matrixOptions } from '@hopwise/lab/matrix/options';
import { checkCommand } from '@hopwise/lab/pages/check-command';
import { pcwndCommand } from '@hopwise/lab/pcwnd/command';
import { Command } from 'commander';
import { initialWindowCommand } from '../initial-window/command.ts';
import { summariseFolder } from './summary-command.ts';

await runProgram(async (context) => {
  const command = new Command()
    .name('npm run lab --')
    .description(
      'Measures ground truth: page load times in a real browser, by page, network and protocol. Each load is kept: the same command continues an interrupted run.',
    )
    .showHelpAfterError('(see npm run lab -- --help)')
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
  command.addCommand(initialWindowCommand(context));
  command.addCommand(pcwndCommand({ signal: context.signal }));
  await command.parseAsync(process.argv.slice(2), { from: 'user' });
});
