import type { Stream } from '../transport/stream.ts';
import type { LossCause, Trace } from '../transport/trace.ts';

/** One connection of an emulated load. Times are milliseconds after navigationStart. */
export interface TracedConnection {
  openingMs: number;
  /** Null when it was never ready. */
  openMs: number | null;
  /** Activities (`FetchActivity.id`) whose requests it carried, in order. */
  requests: number[];
  /** Lost packets by cause. */
  lost: Record<LossCause, number>;
  timeouts: number;
}

/** Responses that waited behind one lost packet, or several that were repaired together. */
export interface Holdup {
  connection: number;
  /** The fetch whose bytes were missing. */
  of: number;
  /** Fetches whose bytes had arrived, and how long these waited. */
  heldMs: ReadonlyMap<number, number>;
  atMs: number;
}

/** What happened on the connections of one emulated load. */
export class LoadTrace implements Trace {
  readonly connections: TracedConnection[] = [];
  readonly holdups: Holdup[] = [];
  readonly #indexOf = new Map<object, number>();
  readonly #connectionOf = new Map<number, number>();
  readonly #lossWaits = new Map<number, { fromMs: number; toMs: number }[]>();

  /** Index in `connections` of the one that carried a fetch; null when its request never left. */
  connectionOf(activity: number): number | null {
    return this.#connectionOf.get(activity) ?? null;
  }

  /** How long, between two times, bytes of a fetch lay behind a lost packet. */
  lossWaitMs(activity: number, fromMs: number, toMs: number): number {
    let sum = 0;
    for (const wait of this.#lossWaits.get(activity) ?? []) {
      sum += Math.max(0, Math.min(wait.toMs, toMs) - Math.max(wait.fromMs, fromMs));
    }
    return sum;
  }

  opening(connection: object, nowMs: number): void {
    this.#indexOf.set(connection, this.connections.length);
    this.connections.push({
      openingMs: nowMs,
      openMs: null,
      requests: [],
      lost: { random: 0, queue: 0, policed: 0 },
      timeouts: 0,
    });
  }

  open(connection: object, nowMs: number): void {
    this.#of(connection).openMs = nowMs;
  }

  request(connection: object, stream: Stream): void {
    this.#of(connection).requests.push(stream.id);
    this.#connectionOf.set(stream.id, this.#indexOf.get(connection)!);
  }

  lost(connection: object, packets: number, cause: LossCause): void {
    this.#of(connection).lost[cause] += packets;
  }

  timeout(connection: object): void {
    this.#of(connection).timeouts++;
  }

  released(connection: object, of: Stream, heldMs: ReadonlyMap<Stream, number>, nowMs: number): void {
    const held = new Map<number, number>();
    for (const [stream, waitedMs] of heldMs) {
      held.set(stream.id, waitedMs);
      this.#noteWait(stream.id, nowMs - waitedMs, nowMs);
    }
    this.holdups.push({ connection: this.#indexOf.get(connection)!, of: of.id, heldMs: held, atMs: nowMs });
  }

  /** Waits are noted in order of their ends: what of one is new lies behind the last one's. */
  #noteWait(activity: number, fromMs: number, toMs: number): void {
    const waits = this.#lossWaits.get(activity);
    if (waits === undefined) {
      this.#lossWaits.set(activity, [{ fromMs, toMs }]);
      return;
    }
    const lastMs = waits[waits.length - 1]!.toMs;
    if (toMs > lastMs) waits.push({ fromMs: Math.max(fromMs, lastMs), toMs });
  }

  #of(connection: object): TracedConnection {
    return this.connections[this.#indexOf.get(connection)!]!;
  }
}
