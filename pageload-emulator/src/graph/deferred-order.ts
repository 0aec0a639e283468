import type { RecordedRequest } from '@hopwise/contract';
import { isModule } from './module-scripts.ts';
import type { Parent } from './request-parents.ts';

/** Chromium requests deferred and asynchronous scripts with a lower priority than those that block. */
const DEFERRED_URGENCY = 3;
/** Longest chain of scripts that request scripts. */
const MAX_STEPS = 16;

/** A script, and when it is known to have run. */
interface Executed {
  script: RecordedRequest;
  endMs: number;
}

/**
 * What deferred and module scripts wait for: the last execution before them of an earlier such script of their document, or
 * of a script that it requested (HTML standard, "list of scripts that will execute when the document has finished parsing").
 * A recording does not distinguish such scripts from asynchronous ones, which wait for none, so only an execution between a
 * script's arrival and its own is taken to have delayed it.
 */
export class DeferredOrder<Execution extends Executed> {
  readonly #parents: ReadonlyMap<number, Parent>;
  /** Ascending by end. */
  readonly #executed: Execution[] = [];

  constructor(parents: ReadonlyMap<number, Parent>) {
    this.#parents = parents;
  }

  /** To be called in order of the executions' ends. */
  add(execution: Execution): void {
    this.#executed.push(execution);
  }

  /** Returns the last execution so far that `script` waited for after its arrival; null for none. */
  before(script: RecordedRequest): Execution | null {
    // Other scripts that scripts request run as they arrive.
    const root = this.#isDeferrable(script) || isModule(script) ? this.#root(script) : null;
    if (root === null) return null;
    for (let at = this.#executed.length - 1; at >= 0; at--) {
      const earlier = this.#executed[at]!;
      if (earlier.endMs <= script.endMs) return null;
      const other = this.#root(earlier.script);
      if (other === null || this.#parentOf(other) !== this.#parentOf(root)) continue;
      if (other.id < root.id || (other === root && isModule(script) && isModule(earlier.script)))
        return earlier;
    }
    return null;
  }

  /** The document's script that led to `script` by requests, or `script` itself. */
  #root(script: RecordedRequest): RecordedRequest | null {
    let at: RecordedRequest | undefined = script;
    for (let steps = 0; at?.type === 'script' && steps < MAX_STEPS; steps++) {
      if (this.#isDeferrable(at)) return at;
      at = this.#parentOf(at);
    }
    return null;
  }

  #parentOf({ id }: RecordedRequest): RecordedRequest | undefined {
    return this.#parents.get(id)?.request;
  }

  #isDeferrable(request: RecordedRequest): boolean {
    const { id, type, renderBlocking, urgency } = request;
    if (type !== 'script' || this.#parents.get(id)?.kind !== 'parser') return false;
    return renderBlocking === null ? urgency === DEFERRED_URGENCY || isModule(request) : !renderBlocking;
  }
}
