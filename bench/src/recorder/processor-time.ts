import { readdirSync, readFileSync } from 'node:fs';

/** Unit of the kernel's figures in `/proc/PID/stat` (proc(5)): ticks are hundredths of a second on Linux. */
const TICK_MS = 10;

export interface BrowserProcess {
  pid: number;
  /** Processor time of its own and of children that have ended, milliseconds. */
  usedMs: number;
  /** Whether pages or workers of an extension run in it. */
  isExtension: boolean;
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
  return [...family].flatMap((each) => {
    const found = processes.get(each);
    return found ? [{ pid: each, usedMs: found.ticks * TICK_MS, isExtension: found.isExtension }] : [];
  });
}

/** Processor time that a process and its descendants have used so far, milliseconds. */
export const readProcessorTime = (pid: number): number => sumTimes(listProcesses(pid));

/** Processor time that the running processes of extensions have used so far, milliseconds. */
export const readExtensionTime = (pid: number): number =>
  sumTimes(listProcesses(pid).filter(({ isExtension }) => isExtension));

const sumTimes = (processes: readonly BrowserProcess[]): number =>
  processes.reduce((sum, { usedMs }) => sum + usedMs, 0);

interface ReadProcess {
  parent: number;
  ticks: number;
  isExtension: boolean;
}

function readProcesses(): Map<number, ReadProcess> {
  const processes = new Map<number, ReadProcess>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The command's name, in brackets, may contain spaces and brackets.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // Its own time and that of children that have ended: user and system.
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      const isExtension = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('--extension-process');
      processes.set(Number(name), { parent: Number(fields[1]), ticks, isExtension });
    } catch {
      // It has ended in the meantime.
    }
  }
  return processes;
}
