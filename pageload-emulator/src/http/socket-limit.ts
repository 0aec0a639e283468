import { MAX_SOCKETS } from '@hopwise/contract';
import { PriorityQueue } from '../util/priority-queue.ts';

/** A client that opens sockets within the limit. */
export interface SocketHolder {
  /** Urgency of the request that waits for a socket, lower first; null when none waits any more. */
  readonly wanted: number | null;
  /** Closes one idle socket; false when there is none. */
  closeIdle(): boolean;
  /** Called when the holder may open a socket, which is already counted. */
  onSocket(): void;
}

interface Stalled {
  holder: SocketHolder;
  /** The holder's `wanted` when it was queued. */
  wanted: number;
  /** Order of arrival. */
  turn: number;
}

/**
 * The browser's limit on TCP sockets. At the limit, an idle socket to another host is closed to make room for a new one;
 * when no socket is idle, holders wait for one, the most urgent first.
 */
export class SocketLimit {
  readonly #limit: number;
  /** Holders that may have idle sockets. */
  readonly #resting = new Set<SocketHolder>();
  readonly #stalled = new Map<SocketHolder, Stalled>();
  /** The entries of `#stalled`, and stale ones. */
  readonly #queue = new PriorityQueue<Stalled>(
    (a, b) => a.wanted < b.wanted || (a.wanted === b.wanted && a.turn < b.turn),
  );
  #turns = 0;
  #open = 0;

  constructor(limit = MAX_SOCKETS) {
    this.#limit = limit;
  }

  /** Whether `holder` may open a socket now, which is then counted; otherwise its `onSocket` is called later. */
  take(holder: SocketHolder): boolean {
    if (this.#open >= this.#limit && !this.#closeOne(holder)) {
      this.#stall(holder);
      return false;
    }
    this.#stalled.delete(holder);
    this.#open++;
    return true;
  }

  /** Must be called when a socket of `holder` is closed. */
  release(holder: SocketHolder): void {
    this.#open--;
    const next = this.#stalled.size > 0 ? this.#next(holder) : null;
    if (next === null) return;
    this.#stalled.delete(next);
    this.#open++;
    next.onSocket();
  }

  /** Must be called when `holder` may have idle sockets; waiting holders get them. */
  idle(holder: SocketHolder): void {
    this.#stalled.delete(holder);
    while (this.#stalled.size > 0) {
      const next = this.#next(holder);
      if (next === null) break;
      if (!holder.closeIdle()) return;
      this.#stalled.delete(next);
      next.onSocket();
    }
    this.#resting.add(holder);
  }

  #stall(holder: SocketHolder): void {
    const { wanted } = holder;
    const before = this.#stalled.get(holder);
    if (wanted === null || wanted === before?.wanted) return;
    const stalled = { holder, wanted, turn: before?.turn ?? this.#turns++ };
    this.#stalled.set(holder, stalled);
    this.#queue.push(stalled);
  }

  /** Finds the most urgent waiting holder but `except`; all stay queued. */
  #next(except: SocketHolder): SocketHolder | null {
    const waiting: Stalled[] = [];
    let next: SocketHolder | null = null;
    while (next === null) {
      const stalled = this.#queue.shift();
      if (stalled === undefined) break;
      const { holder } = stalled;
      if (this.#stalled.get(holder) !== stalled) continue;
      if (holder.wanted === null) this.#stalled.delete(holder);
      else if (holder.wanted !== stalled.wanted) this.#stall(holder);
      else {
        waiting.push(stalled);
        if (holder !== except) next = holder;
      }
    }
    for (const stalled of waiting) this.#queue.push(stalled);
    return next;
  }

  #closeOne(asker: SocketHolder): boolean {
    for (const holder of this.#resting) {
      if (holder === asker) continue;
      if (holder.closeIdle()) {
        this.#open--;
        return true;
      }
      this.#resting.delete(holder);
    }
    return false;
  }
}
