import type { RecordedRequest } from '@hopwise/contract';
import { firstIndexWhere } from '../util/ordered.ts';
import { DeferredOrder } from './deferred-order.ts';
import { ExecutionOrder } from './execution-order.ts';
import type { Head } from './head.ts';
import { ModuleArrivals } from './module-arrivals.ts';
import { isImport, isModule } from './module-scripts.ts';
import type { Parent } from './request-parents.ts';

/** A script that makes its first request later than this after it could run waited for a timer, not for the main thread. */
const MAX_EXECUTION_MS = 300;
/** That limit after the first request of an earlier deferred script, which may have run on. */
const MAX_AFTER_EARLIER_MS = 1_000;
/** Shorter gaps are the browser's own bookkeeping. */
const MIN_EXECUTION_MS = 1;
/** Other scripts explain a wait longer than an execution if at least this share of it had passed when the last of them arrived or ran. */
const MIN_EXPLAINED = 0.5;

/** A script's work on the main thread. */
export interface Execution {
  script: RecordedRequest;
  /** Time on the main thread, milliseconds. */
  durationMs: number;
  /** Milliseconds after navigationStart. */
  endMs: number;
  /** Blocking scripts and stylesheets before it in the document, as far as it waited for them. */
  blockers: readonly RecordedRequest[];
  /** Modules that had to arrive before. */
  imports: readonly RecordedRequest[];
  /** The execution of another deferred script that it waited for. */
  earlier: Execution | null;
}

/** Executions by what led to a request. */
export interface Executions {
  /** That of a request's parent after which it was made; null for none. */
  before(request: RecordedRequest, parent: RecordedRequest): Execution | null;
  /** The last one of a script; null for none. */
  of(script: RecordedRequest): Execution | null;
  /** The main thread's time for the document's head, milliseconds. */
  readonly headMs: number;
}

/**
 * Finds executions of scripts: from a script's arrival, and that of all it waits for, to its first request. They share one
 * thread, so each of several overlapping gaps gets the time that those before it left. The parser's time for the head counts
 * as the document's.
 *
 * @param kept requests in the graph, in order of start
 */
export function findExecutions(
  kept: readonly RecordedRequest[],
  parents: ReadonlyMap<number, Parent>,
  head: Head | null,
): Executions {
  return new ExecutionFinder(kept, parents).find(head);
}

/** From a script's arrival to its first request: of a module, to its first import, and to its first other request. */
interface Gap {
  script: RecordedRequest;
  endMs: number;
  isImporting: boolean;
}

/** What an execution waited for, and when it was ready to run. */
type Waits = Pick<Execution, 'imports' | 'earlier'> & { readyMs: number };

class ExecutionFinder implements Executions {
  readonly #gaps: readonly Gap[];
  readonly #order: ExecutionOrder;
  readonly #modules: ModuleArrivals;
  readonly #deferred: DeferredOrder<Execution>;
  /** Starts of the requests that a script made, but for imports, ascending, by `RecordedRequest.id` of the script. */
  readonly #startsMs = new Map<number, number[]>();
  readonly #importing = new Map<number, Execution>();
  readonly #evaluating = new Map<number, Execution>();
  #busyUntilMs = 0;
  headMs = 0;

  constructor(kept: readonly RecordedRequest[], parents: ReadonlyMap<number, Parent>) {
    this.#order = new ExecutionOrder(kept, parents);
    this.#modules = new ModuleArrivals(kept, parents);
    this.#deferred = new DeferredOrder(parents);
    this.#gaps = this.#findGaps(kept, parents);
  }

  find(head: Head | null): this {
    let isInHead = head !== null;
    for (const gap of this.#gaps) {
      if (isInHead && head!.endMs < gap.endMs) {
        isInHead = false;
        this.#addHead(head!);
      }
      this.#addScript(gap);
    }
    if (isInHead) this.#addHead(head!);
    return this;
  }

  before(request: RecordedRequest, parent: RecordedRequest): Execution | null {
    return (isImport(request, parent) ? this.#importing : this.#evaluating).get(parent.id) ?? null;
  }

  of({ id }: RecordedRequest): Execution | null {
    return this.#evaluating.get(id) ?? this.#importing.get(id) ?? null;
  }

  /** In order of their ends. */
  #findGaps(kept: readonly RecordedRequest[], parents: ReadonlyMap<number, Parent>): Gap[] {
    const gaps: Gap[] = [];
    const importing = new Set<number>();
    for (const request of kept) {
      const script = parents.get(request.id)?.request;
      if (script?.type !== 'script') continue;
      const gap = { script, endMs: request.startMs, isImporting: isImport(request, script) };
      const startsMs = this.#startsMs.get(script.id);
      if (gap.isImporting) {
        if (!importing.has(script.id)) gaps.push(gap);
        importing.add(script.id);
      } else if (startsMs === undefined) {
        this.#startsMs.set(script.id, [request.startMs]);
        gaps.push(gap);
      } else startsMs.push(request.startMs);
    }
    return gaps.sort((a, b) => a.endMs - b.endMs || a.script.id - b.script.id);
  }

  #addHead({ blockers, endMs }: Head): void {
    const readyMs = lastEndMs(blockers);
    const gapMs = endMs - readyMs;
    if (gapMs >= MIN_EXECUTION_MS && gapMs <= MAX_EXECUTION_MS) this.headMs = this.#spend(readyMs, endMs);
  }

  #addScript({ script, endMs, isImporting }: Gap): void {
    const blockers = this.#blockers(script, endMs);
    const arrivedMs = lastEndMs([script, ...blockers]);
    const { readyMs, ...waits } = isImporting
      ? { imports: [], earlier: null, readyMs: arrivedMs }
      : this.#waits(script, arrivedMs, endMs);
    const limitMs = waits.earlier === null ? MAX_EXECUTION_MS : MAX_AFTER_EARLIER_MS;
    if (endMs - arrivedMs < MIN_EXECUTION_MS || endMs - readyMs > limitMs) return;
    const execution = { script, durationMs: this.#spend(readyMs, endMs), endMs, blockers, ...waits };
    if (isImporting) this.#importing.set(script.id, execution);
    else {
      this.#evaluating.set(script.id, execution);
      this.#deferred.add(execution);
    }
  }

  #blockers(script: RecordedRequest, endMs: number): RecordedRequest[] {
    const known = this.#order.before(script, endMs);
    if (known.length > 0) return known;
    const later = this.#order.beforeLater(script, endMs);
    return lastEndMs(later) - script.endMs >= MIN_EXPLAINED * (endMs - script.endMs) ? later : [];
  }

  /**
   * @param arrivedMs when the script had arrived, and all that blocks it
   * @param endMs when it made its first request
   */
  #waits(script: RecordedRequest, arrivedMs: number, endMs: number): Waits {
    const imports = isModule(script) ? this.#modules.between(arrivedMs, endMs) : [];
    const importedMs = Math.max(arrivedMs, lastEndMs(imports));
    const last = this.#deferred.before(script);
    const lastStartMs = last === null ? 0 : this.#lastStartMs(last.script, endMs);
    const earlier = lastStartMs > importedMs ? last : null;
    const waitedMs = endMs - arrivedMs;
    const explainedMs = Math.max(importedMs, lastStartMs) - arrivedMs;
    if (waitedMs > MAX_EXECUTION_MS && explainedMs < MIN_EXPLAINED * waitedMs)
      return { imports: [], earlier: null, readyMs: arrivedMs };
    return { imports, earlier, readyMs: Math.max(importedMs, earlier?.endMs ?? 0) };
  }

  /** When a script that has run made its last request until `endMs`, milliseconds. */
  #lastStartMs({ id }: RecordedRequest, endMs: number): number {
    const startsMs = this.#startsMs.get(id)!;
    return startsMs[firstIndexWhere(startsMs, (startMs) => startMs > endMs) - 1]!;
  }

  /** @returns the main thread's time between two moments that no execution so far has taken, milliseconds */
  #spend(fromMs: number, toMs: number): number {
    const spentMs = Math.max(0, toMs - Math.max(fromMs, this.#busyUntilMs));
    this.#busyUntilMs = Math.max(this.#busyUntilMs, toMs);
    return spentMs;
  }
}

function lastEndMs(requests: readonly RecordedRequest[]): number {
  return Math.max(0, ...requests.map(({ endMs }) => endMs));
}
