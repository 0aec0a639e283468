import type { RecordedRequest } from '@hopwise/contract';

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
    const found: RecordedRequest[] = [];
    const position = this.#position.get(script);
    if (position === undefined) return found;
    const own = this.#byDocument.get(script.initiator.requestId as number) as RecordedRequest[];
    for (let at = position - 1; at >= 0; at--) {
      const request = own[at]!;
      if (request.endMs > endMs) continue;
      found.push(request);
      if (request.type === 'script') break;
    }
    return found;
  }
}

function isBlocking({ type, renderBlocking, initiator }: RecordedRequest): boolean {
  return (
    renderBlocking === true &&
    (type === 'script' || type === 'style') &&
    initiator.kind === 'parser' &&
    initiator.requestId !== null
  );
}

/** A script, and when it is known to have run. */
export interface Executed {
  script: RecordedRequest;
  endMs: number;
}

/**
 * What deferred and module scripts wait for: the last execution before them of an earlier such script of their document, or
 * of a script that it requested (HTML standard, "list of scripts that will execute when the document has finished parsing").
 * A recording does not distinguish such scripts from asynchronous ones, which wait for none, so only an execution between a
 * script's arrival and its own is taken to have delayed it.
 */
export class DeferredOrder {
  readonly #recording: readonly RecordedRequest[];
  /** Ascending by end. */
  readonly #executed: readonly Executed[];

  /** @param requests all requests of the recording, by id */
  constructor(requests: readonly RecordedRequest[], executed: readonly Executed[]) {
    this.#recording = requests;
    this.#executed = executed.toSorted((a, b) => a.endMs - b.endMs);
  }

  /**
   * Returns the execution that `script` waited for; null for none.
   *
   * @param endMs when `script` ran
   */
  before(script: RecordedRequest, endMs: number): Executed | null {
    if (!isDeferrable(script)) return null;
    for (let at = this.#lastBefore(endMs); at >= 0; at--) {
      const earlier = this.#executed[at]!;
      if (earlier.endMs <= script.endMs) return null;
      const root = this.#root(earlier.script);
      if (root !== null && root.id < script.id && root.initiator.requestId === script.initiator.requestId) {
        return earlier;
      }
    }
    return null;
  }

  #lastBefore(endMs: number): number {
    let low = 0;
    let high = this.#executed.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#executed[middle]!.endMs < endMs) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The document's script that led to `script` by requests, or `script` itself. */
  #root(script: RecordedRequest): RecordedRequest | null {
    let at: RecordedRequest | undefined = script;
    for (let steps = 0; at !== undefined && steps < MAX_STEPS; steps++) {
      if (isDeferrable(at)) return at;
      if (at.type !== 'script' || at.initiator.requestId === null) return null;
      at = this.#recording[at.initiator.requestId];
    }
    return null;
  }
}

/** Longest chain of scripts that request scripts. */
const MAX_STEPS = 16;

function isDeferrable({ type, renderBlocking, initiator }: RecordedRequest): boolean {
  return (
    type === 'script' &&
    renderBlocking === false &&
    initiator.kind === 'parser' &&
    initiator.requestId !== null
  );
}
