import type { RecordedRequest } from '@hopwise/contract';
import { firstIndexWhere } from '../util/ordered.ts';

/**
 * What parser-inserted scripts wait for: the scripts and the stylesheets before them in the document (HTML standard,
 * "script-blocking style sheet"). Only scripts that the recorder marks as blocking are known to run in order.
 */
export class ExecutionOrder {
  /** Blocking resources of each document, in order of request, which is the preload scanner's order and thus the document's. */
  readonly #byDocument = new Map<number, RecordedRequest[]>();
  /** Index of each resource in its document's list. */
  readonly #position = new Map<RecordedRequest, number>();

  constructor(requests: readonly RecordedRequest[]) {
    for (const request of requests) {
      if (!isBlocking(request)) continue;
      const document = request.initiator.requestId as number;
      const own = this.#byDocument.get(document);
      this.#position.set(request, own?.length ?? 0);
      if (own === undefined) this.#byDocument.set(document, [request]);
      else own.push(request);
    }
  }

  /**
   * Returns the blocking resources before a script in its document: the last script, which itself waits for those before it,
   * and the stylesheets after that one.
   *
   * @param endMs when the script is known to have run: what arrived later did not hold it up
   */
  before(script: RecordedRequest, endMs: number): RecordedRequest[] {
    const position = this.#position.get(script);
    if (position === undefined) return [];
    const own = this.#byDocument.get(script.initiator.requestId as number) as RecordedRequest[];
    return this.#last(own, position, endMs);
  }

  /**
   * Returns the same for a script that does not block rendering: at the end of the body, deferred or a module, it runs when the
   * parser has passed those that block. An asynchronous one, which a recording does not distinguish from these, does not wait.
   */
  beforeLater(script: RecordedRequest, endMs: number): RecordedRequest[] {
    const own = isFoundByParser(script)
      ? this.#byDocument.get(script.initiator.requestId as number)
      : undefined;
    if (own === undefined) return [];
    return this.#last(
      own,
      firstIndexWhere(own, ({ id }) => id > script.id),
      endMs,
    );
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
  return renderBlocking === true && (type === 'script' || type === 'style') && isFoundByParser(request);
}

function isFoundByParser({ initiator }: RecordedRequest): boolean {
  return initiator.kind === 'parser' && initiator.requestId !== null;
}
