import { firstIndexWhere } from '../../util/ordered.ts';
import type { RequestDraft } from '../requests/draft.ts';

/** Bounds the search in hostile files: no browser makes more requests to one URL at once. */
const MAX_CANDIDATES = 100;

/** Drafts by key; those of one key are ordered by a time. */
export class DraftIndex {
  readonly #byKey = new Map<string, RequestDraft[]>();
  readonly #position: ReadonlyMap<RequestDraft, number>;
  readonly #timeOf: (draft: RequestDraft) => number;

  /** @param position of each draft in order of start */
  constructor(position: ReadonlyMap<RequestDraft, number>, timeOf: (draft: RequestDraft) => number) {
    this.#position = position;
    this.#timeOf = timeOf;
  }

  add(key: string, draft: RequestDraft): void {
    const known = this.#byKey.get(key);
    if (known) known.push(draft);
    else this.#byKey.set(key, [draft]);
  }

  /** Sorts the drafts of each key by time. */
  sort(): void {
    for (const drafts of this.#byKey.values()) drafts.sort((a, b) => this.#timeOf(a) - this.#timeOf(b));
  }

  /**
   * Finds, among the drafts of `key` that come before `draft`, the last whose time is at most `slackMs` after the start of
   * `draft`.
   */
  latestBefore(key: string, draft: RequestDraft, slackMs = 0): RequestDraft | null {
    const drafts = this.#byKey.get(key) ?? [];
    const position = this.#position.get(draft)!;
    const end = firstIndexWhere(drafts, (next) => this.#timeOf(next) > draft.startMs + slackMs);
    for (let i = end - 1; i >= Math.max(0, end - MAX_CANDIDATES); i--) {
      const candidate = drafts[i]!;
      if (this.#position.get(candidate)! < position) return candidate;
    }
    return null;
  }
}
