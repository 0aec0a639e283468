import {
  type Assignment,
  buildGraph,
  emulate,
  estimateNetwork,
  type KnownNetwork,
  type NetworkPath,
  PROTOCOLS,
  type Protocol,
  predict,
  type Recording,
} from '@hopwise/pageload-emulator';
import { median } from 'simple-statistics';
import type { Guess } from './guess.ts';

/**
 * hopwise's prediction from one recorded load.
 *
 * @param network what is known of the path; everything is estimated from the recording when absent
 */
export function hopwiseGuess(recording: Recording, network?: KnownNetwork): Guess {
  const startedAt = performance.now();
  const { protocols, best, confidence, decided } = predict(recording, network ? { network } : {});
  const elapsedMs = performance.now() - startedAt;
  const guess: Guess = { pltMs: {}, best, stated: { confidence, decided, ranges: {} }, elapsedMs };
  for (const protocol of PROTOCOLS) {
    const time = protocols[protocol];
    if ('unavailable' in time) continue;
    guess.pltMs[protocol] = time.pltMs;
    guess.stated!.ranges[protocol] = time;
  }
  return guess;
}

/** Losses to emulate an assignment over. */
const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);

/** Emulated load time of an assignment over that of the best protocol for all origins, the network given. */
export function assignedRatio(recording: Recording, path: NetworkPath, assignment: Assignment): number {
  const graph = buildGraph(recording);
  const { servers } = estimateNetwork(recording);
  const timeOf = (each: Assignment) =>
    median(SEEDS.map((seed) => emulate(graph, path, servers, each, { seed }).pltMs));
  const uniform = (protocol: Protocol): Assignment =>
    Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || path.udp.kind !== 'blocked');
  return timeOf(assignment) / Math.min(...usable.map((protocol) => timeOf(uniform(protocol))));
}
