import { median } from 'simple-statistics';

/** A probe takes some 6 ms: the fastest of short rounds, as whatever comes between only makes one longer. */
const ROUNDS = 9;
const STEPS = 100_000;
/** Until the engine has compiled the computation. */
const WARM_UP_ROUNDS = 30;
/** Before so many probes nothing is usual yet. */
const MIN_USUAL_SAMPLES = 5;
/** The latest that count: a machine may become another one for good. */
const MAX_USUAL_SAMPLES = 200;

/**
 * How fast the processor is now, by a short fixed computation. A machine whose host is busy, or that is hot, may be 20 to 45% slower for
 * minutes without any process of its own to be seen in /proc, and loads with it.
 */
export class ProcessorSpeed {
  readonly #probe: () => number;
  readonly #usual: number[] = [];

  /** @param probe takes the time of the computation, milliseconds */
  constructor(probe = probeMs) {
    this.#probe = probe;
  }

  /**
   * Takes a probe.
   *
   * @param counts whether it is one of those that say what is usual: what is only waited for would weigh too much
   * @returns its time over the median of those before it; 1 while there are few
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

/** This machine's. */
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

/** Integer arithmetic (Marsaglia's xorshift, Journal of Statistical Software 8:14, 2003); its result is looked at, or the engine would leave it out. */
function compute(): number {
  let state = 0x9e3779b9 | 0;
  for (let step = 0; step < STEPS; step++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state;
}
