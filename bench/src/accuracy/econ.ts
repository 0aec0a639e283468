import type { NetworkPath, Recording } from '@hopwise/pageload-emulator';
import { predictEcon } from '@hopwise/pageload-emulator/econ';
import type { Guess } from './guess.ts';

/**
 * ECON's prediction from one recorded load, the network given: HTTP/1.1 and HTTP/2, of which it names the faster one.
 * A burst of losses counts as one loss event. UDP's treatment means nothing to it.
 */
export function econGuess(recording: Recording, path: NetworkPath): Guess {
  const startedAt = performance.now();
  const { protocols, best } = predictEcon(recording, { network: path });
  const elapsedMs = performance.now() - startedAt;
  return { pltMs: { h1: protocols.h1.pltMs, h2: protocols.h2.pltMs }, best, elapsedMs };
}
