import type { RecordedRequest } from '@hopwise/contract';

/**
 * What the parser's scripts wait for: those before them in the document, and the stylesheets before them (HTML
 * standard, "script-blocking style sheet"). Only scripts of which the recorder says that they block are known to be
 * executed in order; asynchronous ones are not.
 */
export class ExecutionOrder {
  /** Blocking resources of each document, in order of request, which the preload scanner takes from the document's. */
  readonly #byDocument = new Map<number, RecordedRequest[]>();
  /** Index of each in its document's. */
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
   * The blocking resources before a script in its document: the last script, which waits for those before it, and
   * the stylesheets since.
   *
   * @param endMs when the script is known to have been executed: what arrived later did not hold it up
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

/** When a script is known to have been executed. */
export interface Executed {
  script: RecordedRequest;
  endMs: number;
}

/**
 * The execution that a deferred or module script waited for: the last one before it of what an earlier such script of
 * its document is or asked for (HTML standard, "list of scripts that will execute when the document has finished
 * parsing"). A recording does not tell such scripts from asynchronous ones, which wait for none: only an execution that
 * came between the script's arrival and its own explains its lateness.
 */
export class DeferredOrder {
  readonly #recording: readonly RecordedRequest[];
  /** In order of their ends. */
  readonly #executed: readonly Executed[];

  /** @param requests all of the recording, by id */
  constructor(requests: readonly RecordedRequest[], executed: readonly Executed[]) {
    this.#recording = requests;
    this.#executed = executed.toSorted((a, b) => a.endMs - b.endMs);
  }

  /** @param endMs when `script` was executed */
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

  /** The script of a document that led to `script`, itself when it is one. */
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

/** Scripts that import scripts that import scripts. */
const MAX_STEPS = 16;

function isDeferrable({ type, renderBlocking, initiator }: RecordedRequest): boolean {
  return (
    type === 'script' &&
    renderBlocking === false &&
    initiator.kind === 'parser' &&
    initiator.requestId !== null
  );
}
