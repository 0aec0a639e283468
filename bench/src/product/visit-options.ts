import { integer } from '@hopwise/lab/command/option-types';
import type { Command } from 'commander';

/** Options of every bench that visits pages with the product as it ships. */
export interface VisitOptions {
  pages: number;
  page?: string[];
  networks: string;
  seed: number;
  quick: boolean;
  keepLoads: boolean;
  out?: string;
  json: boolean;
}

interface Defaults {
  pages: number;
  networks: readonly string[];
  /** What `--networks` takes. */
  networkNames?: string;
  /** What `--quick` does. */
  quick: string;
  /** Name of the folder without `--out`. */
  out: string;
}

export function addVisitOptions(
  command: Command,
  { pages, networks, networkNames = 'of lab/networks.json, or far', quick, out }: Defaults,
): Command {
  return command
    .option('--pages <n>', "pages drawn from the web's distribution by the seed", integer(1, 100), pages)
    .option('--page <page>', 'this page instead, may be given again', (page: string, all: string[] = []) => [
      ...all,
      page,
    ])
    .option('--networks <names>', networkNames, networks.join(','))
    .option('--seed <n>', 'of pages and losses', integer(0, 10_000), 1)
    .option('--quick', quick, false)
    .option(
      '--keep-loads',
      'keep the newest load of the page after each visit as the extension exports it, in loads/ of the folder',
      false,
    )
    .option('--out <dir>', `folder of the visits (default: ${out})`)
    .option('--json', 'print the figures as JSON and nothing else', false);
}
