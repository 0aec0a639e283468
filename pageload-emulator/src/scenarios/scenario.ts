import type { NetworkPath, ServerProfile } from '@hopwise/contract';

/** One possible network with servers and a seed of the losses. Comparisons are made on the same scenarios (common random numbers). */
export interface Scenario {
  path: NetworkPath;
  servers: readonly ServerProfile[];
  seed: number;
}
