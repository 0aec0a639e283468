import { readdirSync, readFileSync } from 'node:fs';

/** Unit of the kernel's figures in `/proc/PID/stat` (proc(5)): ticks are hundredths of a second on Linux. */
const TICK_MS = 10;

/** Processor time that a process and its descendants have used so far, milliseconds. */
export function readProcessorTime(pid: number): number {
  const processes = readProcesses();
  let sum = 0;
  const family = new Set([pid]);
  // A child's number may be lower than its parent's: until no further one is found.
  for (let before = 0; before !== family.size; ) {
    before = family.size;
    for (const [child, { parent }] of processes) if (family.has(parent)) family.add(child);
  }
  for (const each of family) sum += processes.get(each)?.ticks ?? 0;
  return sum * TICK_MS;
}

function readProcesses(): Map<number, { parent: number; ticks: number }> {
  const processes = new Map<number, { parent: number; ticks: number }>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The command's name, in brackets, may contain spaces and brackets.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // Its own time and that of children that have ended: user and system.
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      processes.set(Number(name), { parent: Number(fields[1]), ticks });
    } catch {
      // It has ended in the meantime.
    }
  }
  return processes;
}
