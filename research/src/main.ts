/** `npm run research`: measurements about the papers rather than about hopwise. */
import { unifyErrors } from '@hopwise/contract/command-line';
import { runProgram } from '@hopwise/lab/command/program';
import { Command } from 'commander';
import { addFlowCommands } from './econ/flow-commands.ts';
import { econCommand } from './econ/judge-sums.ts';
import { initialWindowCommand } from './initial-window/command.ts';
import { papersCommand } from './papers/command.ts';
import { pcwndCommand } from './pcwnd/command.ts';
import { firstTransfersCommand } from './pcwnd/first-transfers.ts';

await runProgram(async (context) => {
  const command = new Command()
    .name('npm run research --')
    .description(
      "Measures what the papers claim, TCP's initial window, and loss by congestion window; asks ECON about single flows.",
    )
    .exitOverride();
  command.addCommand(papersCommand(context));
  command.addCommand(econCommand());
  addFlowCommands(command, (text) => console.log(text));
  command.addCommand(initialWindowCommand(context));
  command.addCommand(pcwndCommand({ signal: context.signal }));
  command.addCommand(firstTransfersCommand(context));
  unifyErrors(command);
  await command.parseAsync(process.argv.slice(2), { from: 'user' });
});
