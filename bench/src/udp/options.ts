import { unifyErrors } from '@hopwise/contract/command-line';
import { integer, list, number } from '@hopwise/lab/command/option-types';
import { PAGE_FORMS } from '@hopwise/lab/pages/page-source';
import { Command, InvalidArgumentError } from 'commander';

/** Parsed options of `npm run bench -- udp`. */
export interface UdpOptions {
  pages: string[];
  networks: string[];
  /** Rates that UDP is policed to, Mbit/s; null for the network's own treatment. */
  udp: (number | null)[];
  seeds: number;
  rounds: number;
  /** Whether only what the extension's check of a network transfers is probed. */
  check: boolean;
  /** Folder of the verifications. */
  out: string;
  json: boolean;
}

/**
 * Parses the command line.
 *
 * @throws CommanderError for unusable options, after commander has written one line to stderr.
 */
export function parseOptions(argv: string[]): UdpOptions {
  const command = new Command()
    .name('npm run bench -- udp')
    .description(
      'Probes pages in the lab, and compares their verdicts on UDP with what the link does to it. Probes are kept: the same command continues an interrupted run.',
    )
    .option('--pages <list>', `comma-separated: ${PAGE_FORMS}`, list, ['web-p25', 'web-p75'])
    .option('--networks <list>', 'profiles of networks.json', list, [
      ...['fast', 'cable', 'lte', 'lossy', 'wifi-bursty', 'udp-policed', 'udp-blocked'],
    ])
    .option(
      '--udp <list>',
      'rates that UDP is policed to on every network, Mbit/s; own: as the network treats it',
      treatments,
    )
    .option('--seeds <n>', 'probes of a page on a network', integer(1, 100), 3)
    .option('--rounds <n>', 'rounds under each protocol; a probe makes one by default', integer(1, 20), 1)
    .option('--check', "transfer only what the extension's check of a network does", false)
    .option('--out <dir>', 'folder of the probes (default: out/udp, or out/udp-check)')
    .option('--json', 'print the verdicts as JSON and nothing else', false)
    .exitOverride();
  unifyErrors(command);
  command.parse(argv, { from: 'user' });
  const given = command.opts<Omit<UdpOptions, 'udp' | 'out'> & Partial<UdpOptions>>();
  return {
    ...given,
    udp: given.udp ?? [null],
    out: given.out ?? (given.check ? 'out/udp-check' : 'out/udp'),
  };
}

function treatments(text: string): (number | null)[] {
  const rate = number(0.01, 1000, '"own" or Mbit/s');
  const all = list(text).map((item) => (item === 'own' ? null : rate(item)));
  if (all.length === 0) throw new InvalidArgumentError('expected "own" or Mbit/s');
  return all;
}
