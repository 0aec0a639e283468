/** A page has few reports under way: one of its load, one where the load event came late, and those that it sends again. */
const MAX_OPEN = 8;

/** The reports of pages that are being handled. A page that was captured can send them faster than they are, each as large as the browser lets it. */
export class OpenReports {
  /** By tab. */
  readonly #open = new Map<number, number>();

  /** Whether no further report of a tab is taken now. */
  isFull(tabId: number): boolean {
    return (this.#open.get(tabId) ?? 0) >= MAX_OPEN;
  }

  /** Counts a report of a tab until it is handled. @returns the outcome of its handling */
  async count<T>(tabId: number, handled: Promise<T>): Promise<T> {
    this.#open.set(tabId, (this.#open.get(tabId) ?? 0) + 1);
    try {
      return await handled;
    } finally {
      const left = this.#open.get(tabId)! - 1;
      if (left === 0) this.#open.delete(tabId);
      else this.#open.set(tabId, left);
    }
  }
}
