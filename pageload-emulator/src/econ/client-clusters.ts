import { mean } from '../util/statistics.ts';
import { type LossPrior, lossByRound } from './loss-by-round.ts';
import type { LossByWindow } from './loss-by-window.ts';
import type { WindowCount } from './pcwnd-files.ts';

/** A client whose rounds were counted. */
export interface KnownClient {
  /**
   * What is known of a client before its first transfer, by name and the same for all: round trip, rate, hour. Ratios
   * should count alike, so logarithms of rates and times.
   */
  features: Readonly<Record<string, number>>;
  counts: readonly WindowCount[];
}

/** Clients that lose alike. */
export interface ClientCluster {
  /** Indices into the clients given. */
  clients: number[];
  /** Loss by window of all their rounds. */
  loss: LossByWindow;
}

/** Loss events that a cluster is worth to a client that has rounds of its own. */
const CLUSTER_EVENTS = 5;

/** Events and packets by octave of the window. */
type Octaves = Map<number, { events: number; packets: number }>;

/**
 * ECON's clusters, from which a client without history takes its p(cwnd). Clients are merged by how they lose, for as
 * long as one p(cwnd) for two clusters explains their counts better than two do, by the Bayesian information
 * criterion (Schwarz, 1978) of Poisson rates by octave of the window, with the loss events as its observations. A new client belongs with the clients that it
 * resembles in what is known of it: those of its cluster are near it on average, by features scaled to a spread of 1.
 *
 * Merging looks at all pairs: some hundred clients, not many thousand.
 */
export class ClientClusters {
  readonly clusters: ClientCluster[];
  readonly #names: string[];
  readonly #spreads: number[];
  readonly #centres: number[][];

  /** @throws RangeError for no client, or one without a round or with other features than the first */
  constructor(clients: readonly KnownClient[]) {
    const first = clients[0];
    if (!first) throw new RangeError('expected at least one client');
    this.#names = Object.keys(first.features).sort();
    const points = clients.map(({ features }) => pointOf(features, this.#names));
    this.#spreads = this.#names.map((_, feature) => {
      const values = points.map((point) => point[feature]!);
      const centre = mean(values);
      return Math.sqrt(mean(values.map((value) => (value - centre) ** 2))) || 1;
    });
    this.clusters = merged(clients.map(({ counts }) => octavesOf(counts))).map((members) => ({
      clients: members,
      loss: lossByRound(pooled(members.map((member) => clients[member]!.counts))),
    }));
    this.#centres = this.clusters.map(({ clients: members }) =>
      this.#names.map((_, feature) => mean(members.map((member) => points[member]![feature]!))),
    );
  }

  /**
   * The cluster of a client of which only the features are known.
   *
   * @throws RangeError for other features than those of the clients
   */
  clusterOf(features: Readonly<Record<string, number>>): ClientCluster {
    const point = pointOf(features, this.#names);
    const distance = (centre: readonly number[]) =>
      centre.reduce(
        (sum, value, feature) => sum + ((value - point[feature]!) / this.#spreads[feature]!) ** 2,
        0,
      );
    let best = 0;
    for (const [cluster, centre] of this.#centres.entries()) {
      if (distance(centre) < distance(this.#centres[best]!)) best = cluster;
    }
    return this.clusters[best]!;
  }

  /** p(cwnd) of a client: its cluster's, and the more its own the more rounds of it have been counted. */
  lossOf(features: Readonly<Record<string, number>>, counts: readonly WindowCount[] = []): LossByWindow {
    const { loss } = this.clusterOf(features);
    const prior: LossPrior = { loss, events: CLUSTER_EVENTS };
    return counts.some(({ rounds }) => rounds > 0) ? lossByRound(counts, prior) : loss;
  }
}

function pointOf(features: Readonly<Record<string, number>>, names: readonly string[]): number[] {
  if (Object.keys(features).length !== names.length) {
    throw new RangeError(
      `expected the features ${names.join(', ')}, got ${Object.keys(features).join(', ')}`,
    );
  }
  return names.map((name) => {
    const value = features[name];
    if (value === undefined || !Number.isFinite(value))
      throw new RangeError(`${name}: expected a number, got ${value}`);
    return value;
  });
}

function octavesOf(counts: readonly WindowCount[]): Octaves {
  const octaves: Octaves = new Map();
  for (const { cwnd, packets, lossEvents } of counts) {
    const octave = Math.floor(Math.log2(cwnd));
    const sum = octaves.get(octave) ?? { events: 0, packets: 0 };
    octaves.set(octave, { events: sum.events + lossEvents, packets: sum.packets + packets });
  }
  return octaves;
}

/** Agglomerative: the pair whose merging gains most, until none gains. */
function merged(octaves: readonly Octaves[]): number[][] {
  const clusters = octaves.map((own, client) => ({ members: [client], octaves: own }));
  let events = 0;
  for (const own of octaves) for (const octave of own.values()) events += octave.events;
  const parameter = Math.log(Math.max(Math.E, events)) / 2;
  const gains = clusters.map((one, index) =>
    clusters.slice(0, index).map((other) => gainOf(one.octaves, other.octaves, parameter)),
  );
  for (;;) {
    let best = { gain: 0, high: -1, low: -1 };
    for (const [high, row] of gains.entries()) {
      for (const [low, gain] of row.entries()) if (gain > best.gain) best = { gain, high, low };
    }
    if (best.high < 0) return clusters.map(({ members }) => members.sort((a, b) => a - b));
    const { high, low } = best;
    const joined = clusters[low]!;
    joined.members.push(...clusters[high]!.members);
    joined.octaves = sumOf(joined.octaves, clusters[high]!.octaves);
    clusters.splice(high, 1);
    gains.splice(high, 1);
    for (const [index, row] of gains.entries()) {
      if (index >= high) row.splice(high, 1);
      if (index > low) row[low] = gainOf(clusters[index]!.octaves, joined.octaves, parameter);
    }
    gains[low] = clusters.slice(0, low).map((other) => gainOf(joined.octaves, other.octaves, parameter));
  }
}

/** What one rate for both, by octave, gains over two: parameters saved, less likelihood lost. */
function gainOf(one: Octaves, other: Octaves, parameter: number): number {
  let gain = 0;
  for (const [octave, { events, packets }] of one) {
    const second = other.get(octave);
    if (!second) continue;
    gain +=
      parameter +
      logLikelihood(events + second.events, packets + second.packets) -
      logLikelihood(events, packets) -
      logLikelihood(second.events, second.packets);
  }
  return gain;
}

/** Of a Poisson count at its own rate, without what does not depend on the rate. */
function logLikelihood(events: number, packets: number): number {
  return events > 0 ? events * Math.log(events / packets) : 0;
}

function sumOf(one: Octaves, other: Octaves): Octaves {
  const sum = new Map(one);
  for (const [octave, { events, packets }] of other) {
    const own = sum.get(octave) ?? { events: 0, packets: 0 };
    sum.set(octave, { events: own.events + events, packets: own.packets + packets });
  }
  return sum;
}

function pooled(counts: readonly (readonly WindowCount[])[]): WindowCount[] {
  const sums = new Map<number, WindowCount>();
  for (const count of counts.flat()) {
    const sum = sums.get(count.cwnd);
    if (!sum) sums.set(count.cwnd, { ...count });
    else {
      sum.rounds += count.rounds;
      sum.packets += count.packets;
      sum.lossEvents += count.lossEvents;
    }
  }
  return [...sums.values()];
}
