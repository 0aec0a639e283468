import { DAY_MS } from '@hopwise/contract';
import {
  type Arm,
  type ChoiceReason,
  type ClusterState,
  Explorer,
  type ExplorerQuestion,
} from '@hopwise/model';
import { LRUCache } from 'lru-cache';
import { addToTally, type ClusterRecord, emptyRecord, type Sample, scaleOf } from './cluster-record.ts';
import { barHarmful, countBarred, permittedWindows } from './guard.ts';

/** What initial windows are chosen by: the transfer time's 80th or 90th percentile or mean, or lost segments. */
export const WINDOW_OBJECTIVES = ['p80', 'p90', 'mean', 'loss'] as const;
export type WindowObjective = (typeof WINDOW_OBJECTIVES)[number];

/** The kernel's initial window, and that of most servers (RFC 6928). */
export const USUAL_WINDOW = 10;
/** The windows of TCP WISE's online test, segments. */
export const DEFAULT_WINDOWS = [10, 15, 20, 25, 30];
/** Another window is used where it takes less time than the usual one by this share. */
const MIN_GAIN = 0.02;
/** Clusters beyond these are forgotten, the longest unused first. */
const MAX_CLUSTERS = 2000;
/** Half of the connections are forgotten in this time. */
const HALF_LIFE_MS = DAY_MS;
/** How many of a cluster's last connections show who its clients are. */
const RECENT_CONNECTIONS = 40;
/** How many connections of other clients lie between two of a client that count, where the cluster has as many. */
const MAX_GAP = 9;

/** The window of a cluster, and why. */
export interface WindowChoice {
  window: number;
  reason: ChoiceReason;
}

/** Where a connection belongs, by the names of the client, of its narrow cluster, and of the cluster that it learns with. */
export interface Origin {
  client: string;
  narrow: string;
  cluster: string;
}

export interface LearnedState {
  explorer: Record<string, ClusterState>;
  clusters: Record<string, ClusterRecord>;
}

/**
 * Learns the initial window of each cluster in TCP WISE's closed loop (Nie et al., IWQoS 2018), with the explorer that hopwise chooses
 * protocols by. Windows are compared by transfer times over what connections of that size usually take in the cluster.
 */
export class WindowController {
  readonly #explorer: Explorer;
  readonly #records: LRUCache<string, ClusterRecord>;
  /** Clients of a cluster's last connections, and of the last ones that counted. */
  readonly #recentClients = new LRUCache<string, { seen: string[]; counted: string[] }>({
    max: MAX_CLUSTERS,
  });
  readonly #windows: readonly number[];
  readonly #objective: WindowObjective;
  readonly #random: () => number;

  /** @param windows to choose from, in rising order, the usual one among them */
  constructor(
    windows: readonly number[],
    objective: WindowObjective,
    random: () => number,
    state: LearnedState = { explorer: {}, clusters: {} },
  ) {
    this.#windows = [USUAL_WINDOW, ...windows.filter((window) => window !== USUAL_WINDOW)];
    this.#objective = objective;
    this.#random = random;
    this.#explorer = new Explorer(new Map(Object.entries(state.explorer)));
    this.#records = new LRUCache({
      max: MAX_CLUSTERS,
      dispose: (_, cluster, why) => why === 'evict' && this.#explorer.forget(cluster),
    });
    for (const [cluster, record] of Object.entries(state.clusters)) this.#records.set(cluster, record);
  }

  get state(): LearnedState {
    return {
      explorer: Object.fromEntries(this.#explorer.clusters),
      clusters: Object.fromEntries(this.#records.rentries()),
    };
  }

  /** Counts a connection as traffic of a cluster, whether or not it shows what a window does. */
  countConnection(cluster: string, nowMs: number): void {
    const record = this.#recordOf(cluster);
    record.connections = connectionsAt(record, nowMs) + 1;
    record.lastMs = nowMs;
  }

  /** Connections of a cluster of late. */
  connectionsOf(cluster: string, nowMs: number): number {
    const record = this.#records.peek(cluster);
    return record === undefined ? 0 : connectionsAt(record, nowMs);
  }

  /**
   * Learns from a connection whose window is known.
   *
   * @returns what the guard has barred by it: from which window on, null for nothing
   */
  note({ client, narrow, cluster }: Origin, reason: ChoiceReason, sample: Sample): number | null {
    if (!this.#admits(cluster, client)) return null;
    const record = this.#recordOf(cluster);
    const trialsBefore = this.#trialsOf(cluster);
    if (this.#windows.includes(sample.window)) {
      // Round trips differ between the narrow clusters of a wide one.
      const { value, scale } = this.#measure(this.#recordOf(narrow), sample);
      const chosen = { arm: String(sample.window), reason };
      this.#explorer.note(this.#question(cluster, this.#windows, scale), chosen, value);
    }
    if (this.#trialsOf(cluster) > trialsBefore) {
      // The path has changed: what windows lost before it says nothing.
      record.tallies = {};
      record.barred = null;
    }
    addToTally(record, sample);
    countBarred(record);
    return barHarmful(record, USUAL_WINDOW);
  }

  /** Chooses the window for a cluster's next connections. */
  choose(cluster: string): WindowChoice {
    const windows = permittedWindows(this.#recordOf(cluster), this.#windows);
    const { arm, reason } = this.#explorer.choose(this.#question(cluster, windows, 1));
    return { window: Number(arm), reason };
  }

  #trialsOf(cluster: string): number {
    return this.#explorer.clusters.get(cluster)?.trials ?? 0;
  }

  #question(cluster: string, windows: readonly number[], scaleMs: number): ExplorerQuestion {
    return {
      clusters: [cluster],
      scaleMs,
      arms: windows.map((window): Arm => ({ name: String(window), predicted: null })),
      minGain: MIN_GAIN,
      objective: this.#objective === 'loss' ? 'mean' : this.#objective,
      random: this.#random,
    };
  }

  /** What the objective compares, which must be above 0, and by what. */
  #measure(record: ClusterRecord, sample: Sample): { value: number; scale: number } {
    const { transferMs, segments, retransmitted } = sample;
    if (this.#objective === 'loss') return { value: 1 + retransmitted / segments, scale: 1 };
    return { value: transferMs, scale: scaleOf(record, sample) };
  }

  /** Whether a client's connection counts: none alone can make its cluster look slow or changed. */
  #admits(cluster: string, client: string): boolean {
    const { seen, counted } = this.#recentClients.get(cluster) ?? { seen: [], counted: [] };
    seen.push(client);
    if (seen.length > RECENT_CONNECTIONS) seen.shift();
    const gap = Math.min(MAX_GAP, new Set(seen).size - 1);
    const isAdmitted = gap === 0 || !counted.slice(-gap).includes(client);
    if (isAdmitted) counted.push(client);
    if (counted.length > MAX_GAP) counted.shift();
    this.#recentClients.set(cluster, { seen, counted });
    return isAdmitted;
  }

  #recordOf(cluster: string): ClusterRecord {
    const record = this.#records.get(cluster) ?? emptyRecord();
    this.#records.set(cluster, record);
    return record;
  }
}

const connectionsAt = ({ connections, lastMs }: ClusterRecord, nowMs: number): number =>
  connections * 0.5 ** ((nowMs - lastMs) / HALF_LIFE_MS);
