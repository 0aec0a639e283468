import type { Stream } from '../transport/stream.ts';
import type { LossCause, Trace } from '../transport/trace.ts';

/** One connection of an emulated load. Times are milliseconds after navigationStart. */
interface TracedConnection {
  openingMs: number;
  /** Null when it never opened. */
  openMs: number | null;
  /** Activities (`FetchActivity.id`) whose requests it carried, in order of sending. */
  requests: number[];
  /** Number of lost packets by cause. */
  lost: Record<LossCause, number>;
  timeouts: number;
}

/** Responses that waited behind one lost packet, or behind several repaired together. */
export interface Holdup {
  /** Index in `LoadTrace.connections`. */
  connection: number;
  /** Activity whose bytes were missing. */
  of: number;
  /** How long the bytes of each activity waited behind the gap, milliseconds. */
  heldMs: ReadonlyMap<number, number>;
  /** When the gap was repaired, milliseconds after navigationStart. */
  atMs: number;
}

/** Records the events on the connections of one emulated load. */
export class LoadTrace implements Trace {
  readonly connections: TracedConnection[] = [];
  readonly holdups: Holdup[] = [];
  readonly #indexOf = new Map<object, number>();
  readonly #connectionOf = new Map<number, number>();
  readonly #lossWaits = new Map<number, { fromMs: number; toMs: number }[]>();

  /** Returns the index in `connections` of the one that carried a fetch; null when its request never left. */
  connectionOf(activity: number): number | null {
    return this.#connectionOf.get(activity) ?? null;
  }

  /** Returns how long, between two times, bytes of a fetch waited behind a lost packet, milliseconds. */
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

  /** Waits come in order of their ends and may overlap: only the part after the last wait is added. */
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
