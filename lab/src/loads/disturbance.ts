/** What other work on the machine did to a load. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import type { Lab } from '../client/lab.ts';

/** What other work on the machine did to a load, from its navigationStart to its load event or its failure. */
export interface Disturbance {
  /** Latest hand-over of a packet by the link. */
  latenessMs: number;
  /** Processor time of processes other than the lab's and the browser's, and what the hypervisor took, as a fraction of what was watched. */
  foreignCpu: number;
  /**
   * How long was watched. Absent of loads that were watched from before their context was opened until it was closed
   * (up to 4 s more), and were disturbed above 20 ms of lateness or a tenth of a processor.
   */
  windowMs?: number;
  /** Time of a short computation, right before and right after what was watched, the lesser of both, over what is usual in the run. */
  slowdown?: number;
}

/**
 * Fractions of a load's duration, and the least that counts: neither a late packet nor processor time taken by others delays
 * a load by more than it lasts. Of 464 loads on a machine that others used now and then, 8% had more foreign processor time
 * and under 1% a later packet; below, load times without loss differed from seed to seed as on a quiet machine (by
 * 2.5% in the median, with less than 1% of a processor taken as with 1 to 3%). Processor times come in ticks of 10 ms.
 */
const FOREIGN_CPU_LIMIT = { fraction: 0.03, minMs: 20 };
const LATENESS_LIMIT = { fraction: 0.01, minMs: 5 };
/**
 * A processor that takes so many times as long as usual, before a load and behind it, is another machine. With both processors
 * busy with other work, the lesser of two probes was at most 1.12 in 70 pairs.
 */
const SLOWDOWN_LIMIT = 1.15;

export interface WatchOptions {
  /** The statistics of its link must have been reset before. */
  lab: Pick<Lab, 'stats'>;
  /** Processes of the load whose ancestor is not this process; those that descend from it are known. */
  browserPids?(): number[];
  /** A probe of the processor; see `ProcessorSpeed`. */
  slowdown?(): number;
}

/** What came of a watch. */
export type Watched = Disturbance & { windowMs: number };

/** From the call of `watchDisturbance` to that of `end`. */
export interface DisturbanceWatch {
  end(): Promise<Watched>;
}

/**
 * Begins to watch. `foreignCpu` is the processor time of every process that is neither this one, nor a descendant of it,
 * nor a thread of the kernel, and what the hypervisor took from all processors. Interrupts and the kernel's threads
 * are nobody's, as much the load's own as others' (up to a tenth of a processor during a load): they do not count. Costs
 * some 20 µs of processor time a process at either end, and a probe of the processor.
 */
export async function watchDisturbance({
  lab,
  browserPids,
  slowdown,
}: WatchOptions): Promise<DisturbanceWatch> {
  const slowdownBefore = slowdown?.();
  const own = new Set([process.pid]);
  const before = processTimes();
  const startedAt = performance.now();
  return {
    async end() {
      const windowMs = performance.now() - startedAt;
      const after = processTimes();
      const slowdownAfter = slowdown?.();
      for (const pid of browserPids?.() ?? []) own.add(pid);
      const { down, up } = await lab.stats();
      return {
        latenessMs: Math.max(down.latenessMs.max, up.latenessMs.max),
        foreignCpu: foreignCpuMs(before, after, own) / windowMs,
        windowMs,
        ...(slowdownBefore !== undefined &&
          slowdownAfter !== undefined && { slowdown: Math.min(slowdownBefore, slowdownAfter) }),
      };
    },
  };
}

/** Why what was watched counts as disturbed, a reason each; empty when it was not. */
export function disturbedBy({ latenessMs, foreignCpu, windowMs, slowdown = 1 }: Watched): string[] {
  const above = (ms: number, { fraction, minMs }: typeof LATENESS_LIMIT) =>
    ms > Math.max(minMs, fraction * windowMs);
  const cpuMs = Math.round(foreignCpu * windowMs);
  return [
    ...(above(latenessMs, LATENESS_LIMIT) ? [`a packet was ${Math.round(latenessMs)} ms late`] : []),
    ...(above(cpuMs, FOREIGN_CPU_LIMIT)
      ? [`other processes took ${cpuMs} ms of processor time in ${Math.round(windowMs)} ms`]
      : []),
    ...(slowdown > SLOWDOWN_LIMIT
      ? [`the processor took ${Math.round(100 * (slowdown - 1))}% longer than usual`]
      : []),
  ];
}

/** Processor times since the machine came up, in clock ticks. */
export interface ProcessTimes {
  stealTicks: number;
  /** By process id; without the kernel's own threads. */
  processes: Map<number, ProcessTime>;
}

export interface ProcessTime {
  parent: number;
  ticks: number;
  /** Of children that have ended and been waited for, and of theirs. */
  endedTicks: number;
}

/**
 * Linux' USER_HZ, the unit of /proc: 100 a second on every architecture that Node runs on. /proc/<pid>/schedstat has nanoseconds,
 * but of a process's first thread alone, and nothing of children that ended.
 */
const TICK_MS = 10;
/** PF_KTHREAD of include/linux/sched.h. */
const KERNEL_THREAD = 0x00200000;

/**
 * Milliseconds of processor time between two readings that belong to none of `roots` and their descendants. What ended in
 * between counts through the ancestor that waited for it; what nobody waited for is lost from its last reading on.
 */
export function foreignCpuMs(before: ProcessTimes, after: ProcessTimes, roots: ReadonlySet<number>): number {
  const own = new Set([...family(before, roots), ...family(after, roots)]);
  let ofLiving = 0;
  for (const [pid, { ticks }] of after.processes) {
    if (!own.has(pid)) ofLiving += Math.max(0, ticks - (before.processes.get(pid)?.ticks ?? 0));
  }
  // A process that nobody waited for takes what it had used before with it: then the living ones are the better bound.
  const ofAll = foreignTicks(after, own) - foreignTicks(before, own);
  const stealTicks = Math.max(0, after.stealTicks - before.stealTicks);
  return (Math.max(ofLiving, ofAll) + stealTicks) * TICK_MS;
}

/** With what ended children of theirs used. */
function foreignTicks({ processes }: ProcessTimes, own: ReadonlySet<number>): number {
  let sum = 0;
  for (const [pid, { ticks, endedTicks }] of processes) if (!own.has(pid)) sum += ticks + endedTicks;
  return sum;
}

function family({ processes }: ProcessTimes, roots: ReadonlySet<number>): Set<number> {
  const known = new Map<number, boolean>([...roots].map((pid) => [pid, true]));
  const isOwn = (pid: number): boolean => {
    const answer = known.get(pid);
    if (answer !== undefined) return answer;
    const parent = processes.get(pid)?.parent;
    const own = parent !== undefined && parent !== pid && isOwn(parent);
    known.set(pid, own);
    return own;
  };
  return new Set([...roots, ...[...processes.keys()].filter(isOwn)]);
}

/** Reads /proc. */
export function processTimes(): ProcessTimes {
  const processes = new Map<number, ProcessTime>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const line = statOf(pid);
    if (line === null) continue;
    // proc_pid_stat(5): after the name, which may hold anything, come state, ppid (4), …, flags (9), …, utime (14) to cstime (17).
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ', 15);
    if (Number(fields[6]) & KERNEL_THREAD) continue;
    processes.set(pid, {
      parent: Number(fields[1]),
      ticks: Number(fields[11]) + Number(fields[12]),
      endedTicks: Number(fields[13]) + Number(fields[14]),
    });
  }
  // proc_stat(5): user nice system idle iowait irq softirq steal.
  const all = readFileSync('/proc/stat', 'latin1');
  const steal = Number(all.slice(0, all.indexOf('\n')).split(/\s+/)[8]);
  return { stealTicks: steal, processes };
}

const buffer = Buffer.alloc(1024);

/** A line of /proc/<pid>/stat; null when the process has gone. */
function statOf(pid: number): string | null {
  let file: number;
  try {
    file = openSync(`/proc/${pid}/stat`, 'r');
  } catch {
    return null;
  }
  try {
    return buffer.toString('latin1', 0, readSync(file, buffer));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}
