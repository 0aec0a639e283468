import { unifyErrors } from '@hopwise/contract/command-line';
import { integer, list, someOf } from '@hopwise/lab/command/option-types';
import { Command } from 'commander';
import { type FlowSender, HALVES, type Half, SENDERS } from './grid.ts';

/** Parsed options of `npm run bench -- flows`. */
export interface FlowOptions {
  /** Folder of flows.json. */
  out: string;
  half: Half[];
  senders: FlowSender[];
  /** Only cells whose names contain one of these. */
  only?: string[];
  /** Flows of a lossy cell; short ones are measured twice as often, lossless ones five times. */
  seeds: number;
  /** Labs side by side. */
  labs: number;
  measure: boolean;
  cells: boolean;
  json: boolean;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError for unusable options, after commander has written one line to stderr.
 */
export function parseOptions(argv: string[]): FlowOptions {
  const command = new Command()
    .name('npm run bench -- flows')
    .description(
      'Measures single flows of the kernel’s TCP and of quic-go in the lab, and judges the emulator by them. Flows are kept: the same command continues an interrupted run.',
    )
    .option('--out <dir>', 'folder of the measured flows', 'out/flows')
    .option('--half <list>', `${HALVES.join(', ')}: only the second may be quoted`, someOf(HALVES), [
      ...HALVES,
    ])
    .option('--senders <list>', SENDERS.join(', '), someOf(SENDERS), [...SENDERS])
    .option('--only <texts>', 'only cells whose names contain one of these', list)
    .option(
      '--seeds <n>',
      'flows of a lossy cell; short ones are measured twice as often',
      integer(1, 1_000),
      8,
    )
    .option('--labs <n>', 'labs side by side', integer(1, 16), 2)
    .option('--no-measure', 'only judge existing flows')
    .option('--cells', 'print every cell', false)
    .option('--json', 'print the scores as JSON and nothing else', false)
    .exitOverride();
  unifyErrors(command);
  command.parse(argv, { from: 'user' });
  return command.opts();
}
