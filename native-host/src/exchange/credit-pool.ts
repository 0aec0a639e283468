/**
 * Credit for body bytes: a receiver grants it, and a sender sends no more. Bytes granted and not yet consumed may occupy memory,
 * so they are bounded for each exchange and for all together.
 */

/** Maximum that an exchange may hold: enough for 2 Gbit/s at a millisecond between grants. */
export const WINDOW_BYTES = 512 * 1024;

/** What an exchange may hold however much the others do, so that all make progress. */
export const MIN_WINDOW_BYTES = 32 * 1024;

/** What all exchanges of a process together may hold above their minimum windows. */
export const POOL_BYTES = 32 * 1024 * 1024;

export class CreditPool {
  #committed = 0;

  account(): CreditAccount {
    let committed = 0;
    const commit = (bytes: number): void => {
      this.#committed += bytes - committed;
      committed = bytes;
    };
    return {
      grant: (held) => {
        commit(held);
        // In few large steps: every grant is a frame.
        if (held > WINDOW_BYTES / 2) return 0;
        const shared = Math.max(0, POOL_BYTES - this.#committed);
        const window = Math.max(MIN_WINDOW_BYTES, Math.min(WINDOW_BYTES, held + shared));
        const granted = Math.max(0, window - held);
        commit(held + granted);
        return granted;
      },
      close: () => commit(0),
    };
  }
}

export interface CreditAccount {
  /**
   * Bytes to grant now.
   *
   * @param held bytes granted before and not consumed yet.
   */
  grant(held: number): number;
  close(): void;
}
