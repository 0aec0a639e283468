import type { NetworkPath, ServerProfile } from '@hopwise/contract';

/** One possible network and servers, with one draw of the losses. All that is compared is compared on the same ones (common random numbers). */
export interface Scenario {
  path: NetworkPath;
  servers: readonly ServerProfile[];
  seed: number;
}
