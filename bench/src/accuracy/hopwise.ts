import { median } from '@hopwise/contract';
import {
  type Assignment,
  buildGraph,
  emulate,
  type KnownServer,
  learnNetwork,
  type NetworkCluster,
  type NetworkPath,
  PROTOCOLS,
  type PredictOptions,
  type Protocol,
  predict,
  type Recording,
  readPage,
} from '@hopwise/pageload-emulator';
import type { Cell } from './cells.ts';
import type { Guess } from './guess.ts';

/**
 * hopwise's prediction from one recorded load: what is emulated, and the decision.
 *
 * @param known known figures of the path and the servers; when absent, everything is estimated from the recording
 */
export function hopwiseGuess(
  recording: Recording,
  known: Pick<PredictOptions, 'network' | 'servers' | 'cluster'> = {},
): Guess {
  const startedAt = performance.now();
  const { emulated, decision } = predict(recording, known);
  const { protocols, best, confidence, decided } = emulated;
  const elapsedMs = performance.now() - startedAt;
  const guess: Guess = { pltMs: {}, best, stated: { confidence, decided, ranges: {} }, decision, elapsedMs };
  for (const protocol of PROTOCOLS) {
    const time = protocols[protocol];
    if ('unavailable' in time) continue;
    guess.pltMs[protocol] = time.pltMs;
    guess.stated!.ranges[protocol] = time;
  }
  return guess;
}

/** What is known of a page's servers. @param sending absent where it is what is assumed of unknown servers */
export function serversOf(recording: Recording, sending: Cell['sending']): KnownServer[] {
  if (sending === undefined) return [];
  return buildGraph(recording).origins.map((origin) => ({ origin, ...sending }));
}

/** What loads show about their network; null without loads. */
export function learnedFrom(recordings: readonly Recording[]): NetworkCluster | null {
  let cluster: NetworkCluster | null = null;
  for (const recording of recordings) cluster = learnNetwork(cluster, atOnce(recording));
  return cluster;
}

/** hopwise's prediction right after the loads from which a cluster was learned. */
export function learnedGuess(recording: Recording, cluster: NetworkCluster): Guess {
  return hopwiseGuess(atOnce(recording), { cluster });
}

/** The real times do not matter, as the lab measures pages hours apart and in any order. */
const atOnce = (recording: Recording): Recording => ({ ...recording, recordedAt: '2020-01-01T00:00:00Z' });

/** Number of loss seeds for emulating an assignment. */
const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);

/** Emulated load time of an assignment over that of the best single protocol, given the network. */
export function assignedRatio(recording: Recording, path: NetworkPath, assignment: Assignment): number {
  const {
    graph,
    network: { servers },
  } = readPage(recording, { network: path });
  const timeOf = (each: Assignment) =>
    median(SEEDS.map((seed) => emulate(graph, path, servers, each, { seed }).pltMs));
  const uniform = (protocol: Protocol): Assignment =>
    Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || path.udp.kind !== 'blocked');
  return timeOf(assignment) / Math.min(...usable.map((protocol) => timeOf(uniform(protocol))));
}
