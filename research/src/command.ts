/** The commands of `npm run research`. */
import { refuseUnknownTopic, unifyErrors } from '@hopwise/contract/command-line';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { Command } from 'commander';
import { addFlowCommands } from './econ/flow-commands.ts';
import { econCommand } from './econ/judge-sums.ts';
import { initialWindowCommand } from './initial-window/command.ts';
import { papersCommand } from './papers/command.ts';
import { pcwndCommand } from './pcwnd/command.ts';
import { firstTransfersCommand } from './pcwnd/first-transfers.ts';

/**
 * Runs the command that these words name.
 *
 * @throws UserError or CommanderError for what cannot be used
 */
export async function research(words: readonly string[], context: ProgramContext): Promise<void> {
  const command = new Command()
    .name('npm run research --')
    .description(
      "Judges what the papers claim by measurements; measures TCP's initial window and loss by congestion window; asks ECON about single flows.",
    )
    .exitOverride();
  command.addCommand(papersCommand(context));
  command.addCommand(econCommand());
  addFlowCommands(command, (text) => console.log(text));
  command.addCommand(initialWindowCommand(context));
  command.addCommand(pcwndCommand({ signal: context.signal }));
  command.addCommand(firstTransfersCommand(context));
  unifyErrors(command);
  refuseUnknownTopic(command, words);
  await command.parseAsync(words, { from: 'user' });
}
