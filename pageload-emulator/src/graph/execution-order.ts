import { groupBy, type RecordedRequest } from '@hopwise/contract';
import { firstIndexWhere } from '../util/ordered.ts';
import { isModule } from './module-scripts.ts';
import { priorityOf } from './priorities.ts';
import type { Parent } from './request-parents.ts';

/** Where a recorder does not mark what blocks: the priority of stylesheets and of scripts in the head. */
const BLOCKING_URGENCY = 1;

/**
 * What parser-inserted scripts wait for: the scripts and the stylesheets before them in the document (HTML standard,
 * "script-blocking style sheet"). Only scripts that the recorder marks as blocking are known to run in order.
 */
export class ExecutionOrder {
  readonly #parents: ReadonlyMap<number, Parent>;
  /** Blocking resources of each document, in order of request, which is the preload scanner's order and thus the document's. */
  readonly #byDocument: ReadonlyMap<number | null, readonly RecordedRequest[]>;
  /** Index of each resource in its document's list. */
  readonly #position: ReadonlyMap<RecordedRequest, number>;

  constructor(requests: readonly RecordedRequest[], parents: ReadonlyMap<number, Parent>) {
    this.#parents = parents;
    const blocking = requests.filter((request) => this.#documentOf(request) !== null && isBlocking(request));
    this.#byDocument = groupBy(blocking, (request) => this.#documentOf(request));
    this.#position = new Map(
      [...this.#byDocument.values()].flatMap((own) => own.map((request, index) => [request, index] as const)),
    );
  }

  /**
   * Returns the blocking resources before a script in its document: the last script, which itself waits for those before it,
   * and the stylesheets after that one.
   *
   * @param endMs when the script is known to have run: what arrived later did not hold it up
   */
  before(script: RecordedRequest, endMs: number): RecordedRequest[] {
    const position = this.#position.get(script);
    return position === undefined ? [] : this.#last(this.#blockersAround(script), position, endMs);
  }

  /**
   * Returns the same for a script that does not block rendering: at the end of the body, deferred or a module, it runs when the
   * parser has passed those that block. An asynchronous one, which a recording does not distinguish from these, does not wait.
   */
  beforeLater(script: RecordedRequest, endMs: number): RecordedRequest[] {
    const own = this.#blockersAround(script);
    return this.#last(
      own,
      firstIndexWhere(own, ({ id }) => id > script.id),
      endMs,
    );
  }

  /** The blocking resources of a script's document. */
  #blockersAround(script: RecordedRequest): readonly RecordedRequest[] {
    return this.#byDocument.get(this.#documentOf(script)) ?? [];
  }

  /** The document whose parser found a request, by `RecordedRequest.id`; null where none did. */
  #documentOf({ id }: RecordedRequest): number | null {
    const parent = this.#parents.get(id);
    return parent?.kind === 'parser' ? parent.request.id : null;
  }

  #last(own: readonly RecordedRequest[], position: number, endMs: number): RecordedRequest[] {
    const found: RecordedRequest[] = [];
    for (let at = position - 1; at >= 0; at--) {
      const request = own[at]!;
      if (request.endMs > endMs) continue;
      found.push(request);
      if (request.type === 'script') break;
    }
    return found;
  }
}

function isBlocking(request: RecordedRequest): boolean {
  const { type, renderBlocking } = request;
  if (type !== 'script' && type !== 'style') return false;
  return renderBlocking ?? (!isModule(request) && priorityOf(request).urgency <= BLOCKING_URGENCY);
}
