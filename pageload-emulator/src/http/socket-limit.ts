/** Chromium's most TCP sockets in all (`ClientSocketPoolManager`, `g_max_sockets_per_pool`). */
export const MOST_SOCKETS = 256;

/** Whoever opens sockets within the limit. */
export interface SocketHolder {
  /** Of the request that waits for a socket, lower goes first; null when none does any more. */
  readonly wanted: number | null;
  /** Closes one socket that carries nothing; false when it has none. */
  closeIdle(): boolean;
  /** It may open a socket, which counts already. */
  onSocket(): void;
}

/**
 * The browser's limit on TCP sockets. At the limit, an idle socket to another host is closed for a new one;
 * without any, whoever wants one waits until a socket falls idle, the most urgent first.
 */
export class SocketLimit {
  readonly #most: number;
  /** Those that may have sockets with nothing to do. */
  readonly #resting = new Set<SocketHolder>();
  readonly #stalled = new Set<SocketHolder>();
  #open = 0;

  constructor(most = MOST_SOCKETS) {
    this.#most = most;
  }

  /** Whether `holder` may open a socket now, which then counts; otherwise it is called when it may. */
  take(holder: SocketHolder): boolean {
    if (this.#open >= this.#most && !this.#closeOne(holder)) {
      this.#stalled.add(holder);
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
    while (this.#stalled.size > 0) {
      const next = this.#next(holder);
      if (next === null) break;
      if (!holder.closeIdle()) return;
      this.#stalled.delete(next);
      next.onSocket();
    }
    this.#resting.add(holder);
  }

  #next(except: SocketHolder): SocketHolder | null {
    let best: SocketHolder | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const stalled of this.#stalled) {
      const { wanted } = stalled;
      if (wanted === null) this.#stalled.delete(stalled);
      else if (stalled !== except && wanted < least) {
        best = stalled;
        least = wanted;
      }
    }
    return best;
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
