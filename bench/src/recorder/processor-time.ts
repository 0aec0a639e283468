import { readdirSync, readFileSync } from 'node:fs';

/** Unit of the kernel's figures in `/proc/PID/stat` (proc(5)): ticks are hundredths of a second on Linux. */
const TICK_MS = 10;

/** What a browser's processes do: the browser itself with its network and graphics, pages, extensions, native hosts. */
export const PROCESS_KINDS = ['browser', 'pages', 'extension', 'helper'] as const;

type ProcessKind = (typeof PROCESS_KINDS)[number];

/** A figure of each kind of process. */
export type PerKind = Record<ProcessKind, number>;

/** Processor time by what it is used for, milliseconds. */
export type ProcessorTimes = PerKind;

interface BrowserProcess {
  pid: number;
  kind: ProcessKind;
  /** Processor time of its own, milliseconds. */
  ownMs: number;
  /** That of children that have ended. */
  endedMs: number;
}

/** Lists a browser's process and its descendants. */
export function listProcesses(pid: number): BrowserProcess[] {
  const processes = readProcesses();
  const family = new Set([pid]);
  // A child's number may be lower than its parent's: until no further one is found.
  for (let before = 0; before !== family.size; ) {
    before = family.size;
    for (const [child, { parent }] of processes) if (family.has(parent)) family.add(child);
  }
  const findKind = (each: number): ProcessKind => {
    const { parent, hasEnded } = processes.get(each)!;
    // What has ended has no command any more, until its parent counts it among its own.
    return hasEnded ? kindOfEnded(parent, findKind(parent), pid) : kindOf(each, processes.get(each)!, pid);
  };
  return [...family]
    .filter((each) => processes.has(each))
    .map((each) => ({ pid: each, kind: findKind(each), ...processes.get(each)!.times }));
}

/** Whether pages or workers of an extension run in a process. */
export const isOfExtension = ({ kind }: BrowserProcess): boolean => kind === 'extension';

/** Reads the processor time that a process and its descendants have used so far. */
export function readProcessorTimes(pid: number): ProcessorTimes {
  const times: ProcessorTimes = { browser: 0, pages: 0, extension: 0, helper: 0 };
  for (const { pid: each, kind, ownMs, endedMs } of listProcesses(pid)) {
    times[kind] += ownMs;
    times[kindOfEnded(each, kind, pid)] += endedMs;
  }
  return times;
}

export const sumKinds = (figures: PerKind): number =>
  PROCESS_KINDS.reduce((sum, kind) => sum + figures[kind], 0);

export const averageKinds = (a: PerKind, b: PerKind): PerKind => ({
  browser: (a.browser + b.browser) / 2,
  pages: (a.pages + b.pages) / 2,
  extension: (a.extension + b.extension) / 2,
  helper: (a.helper + b.helper) / 2,
});

/** What was used between two readings. */
export const subtractTimes = (after: ProcessorTimes, before: ProcessorTimes): ProcessorTimes => ({
  browser: after.browser - before.browser,
  pages: after.pages - before.pages,
  extension: after.extension - before.extension,
  helper: after.helper - before.helper,
});

/** Names that Firefox gives to its processes of pages. */
const FIREFOX_PAGES = /^(Isolated |Web Content|Privileged)/;

/** @param browser the browser's first process */
function kindOf(
  pid: number,
  { command, name }: Pick<ReadProcess, 'command' | 'name'>,
  browser: number,
): ProcessKind {
  if (command.includes('--extension-process') || name === 'WebExtensions') return 'extension';
  if (command.includes('--type=renderer') || FIREFOX_PAGES.test(name)) return 'pages';
  return pid === browser || /--type=|-contentproc|crashpad|crashhelper/.test(command) ? 'browser' : 'helper';
}

/**
 * The kind of a process's ended children: the browser's first process starts native hosts, and a process that it keeps for that purpose
 * starts those of pages.
 */
function kindOfEnded(parent: number, kind: ProcessKind, browser: number): ProcessKind {
  if (kind !== 'browser') return kind;
  return parent === browser ? 'helper' : 'pages';
}

interface ReadProcess {
  parent: number;
  command: string;
  /** Its own name of 15 letters at most, which may differ from the command's. */
  name: string;
  hasEnded: boolean;
  times: Pick<BrowserProcess, 'ownMs' | 'endedMs'>;
}

function readProcesses(): Map<number, ReadProcess> {
  const processes = new Map<number, ReadProcess>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The name, in brackets, may contain spaces and brackets.
      const nameEnd = stat.lastIndexOf(')');
      const fields = stat.slice(nameEnd + 2).split(' ');
      const [user, system, endedUser, endedSystem] = fields
        .slice(11, 15)
        .map((ticks) => Number(ticks) * TICK_MS);
      processes.set(Number(name), {
        parent: Number(fields[1]),
        name: stat.slice(stat.indexOf('(') + 1, nameEnd),
        hasEnded: fields[0] === 'Z',
        command: readFileSync(`/proc/${name}/cmdline`, 'utf8'),
        times: { ownMs: user! + system!, endedMs: endedUser! + endedSystem! },
      });
    } catch {
      // It has ended in the meantime.
    }
  }
  return processes;
}
