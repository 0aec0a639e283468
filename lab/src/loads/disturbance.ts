/** What other work on the machine did to a load. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { Lab } from '../client/lab.ts';

/** What other work on the machine did to a load, from its navigationStart to its load event or its failure. */
export interface Disturbance {
  /** Longest delay with which the link handed over a packet. */
  latenessMs: number;
  /**
   * Processor time of processes other than the lab's and the browser's, plus time taken by the hypervisor, as a fraction of the
   * watched time. Processes of lower priority count by the ratio of the scheduler's weights, those of the idle class not at all.
   
   */
  foreignCpu: number;
  /**
   * The watched time. Absent from loads of old versions, which were watched from opening their context to closing it (up to 4 s
   * longer) and counted as disturbed above 20 ms of lateness or a tenth of a processor.
   */
  windowMs?: number;
  /**
   * Time of a short computation over its usual time in the run: the lesser of the measurements right before and right after the
   * watch.
   */
  slowdown?: number;
}

/**
 * Limits as fractions of a load's duration, with a minimum: neither a late packet nor foreign processor time delays a load by
 * more than its own length. Of 464 loads on a machine with occasional other work, 8% exceeded the processor limit and under 1%
 * the lateness limit; below the limits, load times without loss varied from seed to seed as on a quiet machine (by 2.5% in the
 * median, with less than 1% of a processor taken as with 1 to 3%). Processor times come in ticks of 10 ms.
 */
const FOREIGN_CPU_LIMIT = { fraction: 0.03, minMs: 20 };
const LATENESS_LIMIT = { fraction: 0.01, minMs: 5 };
/**
 * A load counts as disturbed when the processor is slower than usual by this factor both before and after it. With both
 * processors busy with other work, the lesser of two probes was at most 1.12 in 70 pairs.
 */
const SLOWDOWN_LIMIT = 1.15;

interface WatchOptions {
  /** The caller must have reset its link statistics. */
  lab: Pick<Lab, 'stats'>;
  /** Processes of the load that do not descend from this process; descendants are found without this. */
  browserPids?(): number[];
  /** A probe of the processor; see `ProcessorSpeed`. */
  slowdown?(): number;
}

/** Result of a watch. */
export type Watched = Disturbance & { windowMs: number };

/** From the call of `watchDisturbance` to that of `end`. */
export interface DisturbanceWatch {
  end(): Promise<Watched>;
}

/**
 * Starts a watch. `foreignCpu` covers all processes except this one, its descendants, kernel threads and processes of the idle
 * class (sched(7), SCHED_IDLE: any other process takes the processor from them at once; what they cost in caches and clock rate
 * the probe of the processor shows), plus the time taken by the hypervisor on all processors. Interrupts and kernel threads do not count: the load itself may cause them (up to a tenth
 * of a processor). At start and end, a watch costs about 20 µs of processor time for each process, and a probe of the
 * processor.
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
        foreignCpu: foreignCpuMs(before, after, own, getPriority()) / windowMs,
        windowMs,
        ...(slowdownBefore !== undefined &&
          slowdownAfter !== undefined && { slowdown: Math.min(slowdownBefore, slowdownAfter) }),
      };
    },
  };
}

/** The reasons why the load counts as disturbed; empty when it does not. */
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

/** Processor times since boot, in clock ticks. */
export interface ProcessTimes {
  stealTicks: number;
  /** By process id; without the kernel's own threads. */
  processes: Map<number, ProcessTime>;
}

interface ProcessTime {
  parent: number;
  ticks: number;
  /** Processor time of descendants that have ended and been waited for. */
  endedTicks: number;
  /** Whether it is of the idle class: it runs only while no other process wants the processor. */
  isIdle?: boolean;
  /** 0 unless given. */
  nice?: number;
}

/**
 * Linux' USER_HZ, the unit of /proc: 100 a second on every architecture that Node runs on. /proc/<pid>/schedstat has
 * nanoseconds,
 * but only for a process's first thread, and nothing about ended children.
 */
const TICK_MS = 10;
/** PF_KTHREAD of include/linux/sched.h. */
const KERNEL_THREAD = 0x00200000;
/** sched(7), the number of the policy in /proc/<pid>/stat. */
const SCHED_IDLE = 5;

/**
 * Milliseconds of processor time between two readings that belong to none of `roots` and their descendants and to no process of
 * the idle class. Time of a process of lower priority counts by its weight over that of `ownNice`. A process that ended in between counts through the ancestor that waited for it; without a waiting ancestor its
 * time since the first reading is lost. An idle process that ended in between hides such counts of its ancestors, as these
 * include its own time.
 */
export function foreignCpuMs(
  before: ProcessTimes,
  after: ProcessTimes,
  roots: ReadonlySet<number>,
  ownNice = 0,
): number {
  const idle = [...before.processes, ...after.processes].flatMap(([pid, { isIdle }]) => (isIdle ? pid : []));
  const own = new Set([...family(before, roots), ...family(after, roots), ...idle]);
  const hidden = ancestors(
    before,
    idle.filter((pid) => !after.processes.has(pid)),
  );
  let ofLiving = 0;
  for (const [pid, { ticks, nice = 0 }] of after.processes) {
    if (own.has(pid)) continue;
    ofLiving += weightAt(nice - ownNice) * Math.max(0, ticks - (before.processes.get(pid)?.ticks ?? 0));
  }
  // An ended process that was not waited for vanishes with its earlier time: the sum over living processes is then the better
  // bound.
  const ofAll = foreignTicks(after, own, hidden, ownNice) - foreignTicks(before, own, hidden, ownNice);
  const stealTicks = Math.max(0, after.stealTicks - before.stealTicks);
  return (Math.max(ofLiving, ofAll) + stealTicks) * TICK_MS;
}

/** Includes the time of their ended children, except those of `hidden` processes. */
function foreignTicks(
  { processes }: ProcessTimes,
  own: ReadonlySet<number>,
  hidden: ReadonlySet<number>,
  ownNice: number,
): number {
  let sum = 0;
  for (const [pid, { ticks, endedTicks, nice = 0 }] of processes) {
    if (!own.has(pid)) sum += weightAt(nice - ownNice) * (hidden.has(pid) ? ticks : ticks + endedTicks);
  }
  return sum;
}

/** Processor share of a process that many nice levels below another, over that of the other (sched(7): 1.25 a level). */
const weightAt = (levels: number): number => 1.25 ** -Math.max(0, levels);

function ancestors({ processes }: ProcessTimes, pids: readonly number[]): Set<number> {
  const found = new Set<number>();
  for (const pid of pids) {
    let parent = processes.get(pid)?.parent;
    while (parent !== undefined && !found.has(parent)) {
      found.add(parent);
      parent = processes.get(parent)?.parent;
    }
  }
  return found;
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
    // proc_pid_stat(5): after the name, which may hold anything, come state, ppid (4), …, flags (9), …, utime (14) to cstime
    // (17), …, policy (41).
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ', 39);
    if (Number(fields[6]) & KERNEL_THREAD) continue;
    processes.set(pid, {
      parent: Number(fields[1]),
      ticks: Number(fields[11]) + Number(fields[12]),
      endedTicks: Number(fields[13]) + Number(fields[14]),
      isIdle: Number(fields[38]) === SCHED_IDLE,
      nice: Number(fields[16]),
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
