import { PriorityQueue } from '../util/priority-queue.ts';

/** Chromium's most TCP sockets in all (`ClientSocketPoolManager`, `g_max_sockets_per_pool`). */
export const MAX_SOCKETS = 256;

/** Whoever opens sockets within the limit. */
export interface SocketHolder {
  /** Of the request that waits for a socket, lower goes first; null when none does any more. */
  readonly wanted: number | null;
  /** Closes one socket that carries nothing; false when it has none. */
  closeIdle(): boolean;
  /** It may open a socket, which counts already. */
  onSocket(): void;
}

interface Stalled {
  holder: SocketHolder;
  /** When it was last looked at. */
  wanted: number;
  /** In order of asking. */
  turn: number;
}

/**
 * The browser's limit on TCP sockets. At the limit, an idle socket to another host is closed for a new one;
 * without any, whoever wants one waits until a socket falls idle, the most urgent first.
 */
export class SocketLimit {
  readonly #most: number;
  /** Those that may have sockets with nothing to do. */
  readonly #resting = new Set<SocketHolder>();
  readonly #stalled = new Map<SocketHolder, Stalled>();
  /** Those of `#stalled`, and some that were there. */
  readonly #queue = new PriorityQueue<Stalled>(
    (a, b) => a.wanted < b.wanted || (a.wanted === b.wanted && a.turn < b.turn),
  );
  #turns = 0;
  #open = 0;

  constructor(most = MAX_SOCKETS) {
    this.#most = most;
  }

  /** Whether `holder` may open a socket now, which then counts; otherwise it is called when it may. */
  take(holder: SocketHolder): boolean {
    if (this.#open >= this.#most && !this.#closeOne(holder)) {
      this.#stall(holder);
      return false;
    }
    this.#stalled.delete(holder);
    this.#open++;
    return true;
  }

  /** A socket that `holder` had taken is closed. */
  release(holder: SocketHolder): void {
    this.#open--;
    const next = this.#stalled.size > 0 ? this.#next(holder) : null;
    if (next === null) return;
    this.#stalled.delete(next);
    this.#open++;
    next.onSocket();
  }

  /** `holder` may have sockets with nothing to do: others' turn, if they wait. */
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

  /** The most urgent of those that wait, which go on waiting. */
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
