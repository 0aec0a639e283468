import { unifyErrors } from '@hopwise/contract/command-line';
import { Command, CommanderError } from 'commander';

/** The command line of a bench that is a script: `npm run bench -- NAME`. */
export function benchCommand(name: string, description: string): Command {
  return new Command(`npm run bench -- ${name}`)
    .description(description)
    .allowExcessArguments(false)
    .exitOverride();
}

/**
 * Parses this process's arguments before any work begins. Help ends the process with 0, what cannot be used with 2 and the
 * one line that commander has written.
 */
export function parseOrExit(command: Command): Command {
  unifyErrors(command);
  try {
    return command.parse(process.argv.slice(2), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
    throw error;
  }
}
