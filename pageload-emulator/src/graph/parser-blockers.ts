import type { RecordedRequest } from '@hopwise/contract';
import { firstIndexWhere } from '../util/ordered.ts';
import { priorityOf } from './priorities.ts';

/** A blocker of the parser is looked for when a request that the parser found was at least this late. */
const MIN_BLOCK_MS = 10;

/** The stylesheets and scripts of a load that may block a parser. */
export class ParserBlockers {
  /** In order of arrival. */
  readonly #blockers: readonly RecordedRequest[];

  constructor(requests: readonly RecordedRequest[]) {
    this.#blockers = requests
      .filter((request) => /^(style|script)$/.test(request.type) && priorityOf(request).urgency <= 2)
      .sort((a, b) => a.endMs - b.endMs || b.id - a.id);
  }

  /**
   * Returns the one that the parser of `parent` waited for before it found `request`; null when none explains the wait.
   *
   * @param readyMs when the part of `parent` with the request had arrived
   */
  before(request: RecordedRequest, parent: RecordedRequest, readyMs: number): RecordedRequest | null {
    if (parent.type !== 'document' && parent.type !== 'iframe') return null;
    if (request.startMs - readyMs < MIN_BLOCK_MS) return null;
    const blockers = this.#blockers;
    let at = firstIndexWhere(blockers, ({ endMs }) => endMs > request.startMs + 1) - 1;
    while (at >= 0 && (blockers[at]!.startMs >= request.startMs || blockers[at]!.id === parent.id)) at--;
    const last = blockers[at];
    // It explains the lateness if most of the wait had passed when it arrived.
    if (last === undefined || last.endMs - readyMs < (request.startMs - readyMs) / 2) return null;
    return last;
  }
}
