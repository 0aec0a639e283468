import { median } from '@hopwise/contract';

/** A probe takes about 6 ms: the fastest of several short rounds, as interruptions can only lengthen a round. */
const ROUNDS = 9;
const STEPS = 100_000;
/** Warm-up rounds, until the engine has compiled the computation. */
const WARM_UP_ROUNDS = 30;
/** Probes needed before a usual time is known. */
const MIN_USUAL_SAMPLES = 5;
/** Only this many latest probes count, as the machine's speed may change permanently. */
const MAX_USUAL_SAMPLES = 200;

/**
 * How fast the processor is now, measured by a short fixed computation. On a busy host or a hot processor a machine, and loads
 * on it, may be 20 to 45% slower for minutes, with no process in /proc to blame.
 */
export class ProcessorSpeed {
  readonly #probe: () => number;
  readonly #usual: number[] = [];

  /** @param probe measures the time of the computation, milliseconds */
  constructor(probe = probeMs) {
    this.#probe = probe;
  }

  /**
   * Takes a probe.
   *
   * @param counts whether it counts towards the usual time; probes made only while waiting must not, they would weigh too much
   * @returns its time over the median of earlier probes; 1 while there are few
   */
  slowdown(counts = true): number {
    const ms = this.#probe();
    const usual = this.#usual;
    const slowdown = usual.length < MIN_USUAL_SAMPLES ? 1 : ms / median(usual);
    if (counts) {
      usual.push(ms);
      if (usual.length > MAX_USUAL_SAMPLES) usual.shift();
    }
    return slowdown;
  }
}

/** The shared instance for this machine. */
export const processorSpeed = new ProcessorSpeed();

let isWarm = false;

/** Time of the computation in processor time of this process, milliseconds. */
function probeMs(): number {
  for (let round = 0; !isWarm && round < WARM_UP_ROUNDS; round++) compute();
  isWarm = true;
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) least = Math.min(least, roundMs());
  return least;
}

function roundMs(): number {
  const before = process.cpuUsage();
  if (compute() === 0) throw new Error('expected xorshift to stay away from zero');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Integer arithmetic (Marsaglia's xorshift, Journal of Statistical Software 8:14, 2003); its result is checked so that the
 * engine cannot optimise it away.
 */
function compute(): number {
  let state = 0x9e3779b9 | 0;
  for (let step = 0; step < STEPS; step++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state;
}
