/** What other work on the machine did to a load. */
import type { Lab } from '../lab/lab.ts';
import type { Disturbance } from './ground-truth.ts';

/** Above these a load is disturbed. */
export const DISTURBED_FROM: Disturbance = { latenessMs: 20, foreignCpu: 0.1 };

export interface WatchOptions {
  /** Its link's statistics must have been reset before the load. */
  lab: Lab;
  /** Processes of the browser, as known at the end of the load. */
  browserPids(): number[];
}

/** From the call until `end`. */
export interface DisturbanceWatch {
  end(): Promise<Disturbance>;
}

export async function watchDisturbance({ lab }: WatchOptions): Promise<DisturbanceWatch> {
  return {
    async end() {
      const { down, up } = await lab.stats();
      return { latenessMs: Math.max(down.latenessMs.max, up.latenessMs.max), foreignCpu: 0 };
    },
  };
}

/** Why a load counts as disturbed, a reason each; empty when it was not. */
export function disturbedBy(disturbance: Disturbance): string[] {
  const { latenessMs, foreignCpu } = disturbance;
  return [
    ...(latenessMs > DISTURBED_FROM.latenessMs ? [`a packet was ${Math.round(latenessMs)} ms late`] : []),
    ...(foreignCpu > DISTURBED_FROM.foreignCpu
      ? [`other processes took ${Math.round(100 * foreignCpu)}% of a processor`]
      : []),
  ];
}
