import { median } from '../util/statistics.ts';
import { type LossByConnections, lossByConnections } from './loss-by-connections.ts';
import { type LossPrior, lossByRound } from './loss-by-round.ts';
import type { LossByWindow } from './loss-by-window.ts';
import type { WindowCount } from './pcwnd-files.ts';

/** A round of one of the client's connections, as its sender saw it. */
export interface ObservedRound {
  atMs: number;
  /** Connections under way: npc. */
  connections: number;
  /** Segments; 1 to 2³¹. */
  cwnd: number;
  /** Segments that it sent. */
  packets: number;
  lost: boolean;
  rttMs: number;
}

/** The conditions by which the next flow is predicted. */
export interface Conditions {
  rttMs: number;
  loss: LossByConnections;
}

/** How fast a `ConditionWindow` forgets; the scripts of ECON's authors give what is absent. */
export interface ConditionWindowOptions {
  /** How long a round counts. */
  spanMs?: number;
  /** How long conditions are kept before they are taken anew. */
  refreshMs?: number;
  /** Latest round trips whose median counts. */
  rtts?: number;
  /** What is expected where the client's own rounds say little. */
  prior?: LossPrior;
}

/** As the scripts that ECON's authors published have them: 100 s of rounds, anew every 10 s, ten round trips. */
const SPAN_MS = 100_000;
const REFRESH_MS = 10_000;
const RTTS = 10;
/** Rounds kept at most, whatever the span. */
const MAX_ROUNDS = 200_000;

/**
 * ECON's sliding window: p(cwnd, npc) and the round trip from the latest rounds alone, so that they follow
 * a network that changes.
 */
export class ConditionWindow {
  readonly #options: Required<Omit<ConditionWindowOptions, 'prior'>>;
  readonly #prior: LossPrior | undefined;
  /** In the order of time. */
  #rounds: ObservedRound[] = [];
  #taken: { atMs: number; conditions: Conditions } | null = null;

  constructor({ spanMs = SPAN_MS, refreshMs = REFRESH_MS, rtts = RTTS, prior }: ConditionWindowOptions = {}) {
    this.#options = { spanMs, refreshMs, rtts };
    this.#prior = prior;
  }

  /** @throws RangeError for a round before the last one */
  add(round: ObservedRound): void {
    const last = this.#rounds.at(-1);
    if (last && round.atMs < last.atMs) {
      throw new RangeError(`expected rounds in the order of time, got ${round.atMs} after ${last.atMs}`);
    }
    this.#rounds.push(round);
    if (this.#rounds.length > 2 * MAX_ROUNDS) this.#rounds = this.#rounds.slice(-MAX_ROUNDS);
  }

  /**
   * @param nowMs not before the last round
   * @returns null where the span holds no round
   */
  at(nowMs: number): Conditions | null {
    const { spanMs, refreshMs, rtts } = this.#options;
    if (this.#taken && nowMs - this.#taken.atMs < refreshMs) return this.#taken.conditions;
    this.#rounds = this.#rounds.filter(({ atMs }) => atMs > nowMs - spanMs);
    this.#taken = null;
    if (this.#rounds.length === 0) return null;
    const loss = new Map<number, LossByWindow>();
    for (const connections of new Set(this.#rounds.map((round) => round.connections))) {
      const rounds = this.#rounds.filter((round) => round.connections === connections);
      loss.set(connections, lossByRound(counted(rounds), this.#prior));
    }
    const conditions = {
      rttMs: median(this.#rounds.slice(-rtts).map(({ rttMs }) => rttMs)),
      loss: lossByConnections(loss),
    };
    this.#taken = { atMs: nowMs, conditions };
    return conditions;
  }
}

/** Counts by window. */
export function counted(rounds: readonly Pick<ObservedRound, 'cwnd' | 'packets' | 'lost'>[]): WindowCount[] {
  const counts = new Map<number, WindowCount>();
  for (const { cwnd, packets, lost } of rounds) {
    let count = counts.get(cwnd);
    if (!count) {
      count = { cwnd, rounds: 0, packets: 0, lossEvents: 0 };
      counts.set(cwnd, count);
    }
    count.rounds++;
    count.packets += packets;
    if (lost) count.lossEvents++;
  }
  return [...counts.values()];
}
