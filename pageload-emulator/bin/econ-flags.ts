import { InputError } from '@hopwise/pageload-emulator';
import {
  type FlowConditions,
  type LossByConnections,
  type LossByWindow,
  lossByConnections,
  readLossByWindow,
} from '@hopwise/pageload-emulator/econ';
import { type Command, Option } from 'commander';
import { fetchParsed } from './fetch-parsed.ts';
import { readParsed } from './text-files.ts';

/** A file of p(cwnd), and with how many connections at once it was measured, where that is given. */
interface PcwndFile {
  file: string;
  connections: number | null;
}

export interface EconFlags {
  pcwnd?: PcwndFile[];
  congestionControl?: FlowConditions['congestionControl'];
}

/** Offers the flags of ECON's conditions. */
export function withEconFlags(command: Command): Command {
  return command
    .option(
      '--pcwnd <file-or-url>',
      "ECON's p(cwnd): its files (cwnd,p) or the counts (JSON) of npm run research -- pcwnd, plain or gzipped, or a URL such as a hopwise-server's; 6=FILE is one measured with 6 connections, and can be repeated for other numbers",
      pcwndFile,
    )
    .addOption(
      new Option('--congestion-control <name>', "the sender's, for ECON (default: cubic)").choices([
        'cubic',
        'reno',
      ]),
    );
}

/** Collects `FILE` and `6=FILE`. */
function pcwndFile(text: string, before: PcwndFile[] = []): PcwndFile[] {
  const [, connections, file] = /^([1-9]\d{0,3})=(.+)$/s.exec(text) ?? [];
  return [
    ...before,
    file === undefined ? { file: text, connections: null } : { file, connections: Number(connections) },
  ];
}

/**
 * Reads p(cwnd, npc).
 *
 * @returns null where no file is given
 * @throws InputError whose message names the file, the place in it and what was expected there
 */
export async function readLoss(files: readonly PcwndFile[] = []): Promise<LossByConnections | null> {
  if (files.length === 0) return null;
  const measured = new Map<number, LossByWindow>();
  for (const { file, connections } of files) {
    if (files.length > 1 && connections === null) {
      throw new InputError(
        `--pcwnd ${file}: expected the number of connections before each of several files, as in 6=${file}`,
      );
    }
    const loss = await (/^https?:\/\//i.test(file) ? fetchParsed : readParsed)(file, readLossByWindow);
    if (measured.has(connections ?? 1)) {
      throw new InputError(`--pcwnd ${file}: expected one file for ${connections} connections, got two`);
    }
    measured.set(connections ?? 1, loss);
  }
  return lossByConnections(measured);
}
