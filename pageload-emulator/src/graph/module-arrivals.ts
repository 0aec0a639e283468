import type { RecordedRequest } from '@hopwise/contract';
import { firstIndexWhere } from '../util/ordered.ts';
import { isModule } from './module-scripts.ts';
import type { Parent } from './request-parents.ts';

/** Number of a page's last modules that an evaluation is compared with. */
const MAX_AWAITED = 64;

/**
 * The modules that a module's evaluation waits for: all that it imports, and what these import (HTML standard, "fetch the
 * descendants of a module script"). Which module imports another is not always recorded: one that the document preloads is
 * ascribed to the document. So any module of the page counts that arrived between a module and its evaluation.
 */
export class ModuleArrivals {
  /** Ascending by end. */
  readonly #modules: readonly RecordedRequest[];
  /** When the first import of a module had arrived, by `RecordedRequest.id`. */
  readonly #firstImportMs = new Map<number, number>();

  /** @param requests in order of start */
  constructor(requests: readonly RecordedRequest[], parents: ReadonlyMap<number, Parent>) {
    this.#modules = requests.filter(isModule).sort((a, b) => a.endMs - b.endMs);
    for (const request of this.#modules) {
      const parent = parents.get(request.id)?.request;
      if (parent === undefined || !isModule(parent) || this.#firstImportMs.has(parent.id)) continue;
      this.#firstImportMs.set(parent.id, request.endMs);
    }
  }

  /**
   * Returns those that arrived after `readyMs`, without those whose imports had arrived too.
   *
   * @param evaluatedMs when the module made its first request
   */
  between(readyMs: number, evaluatedMs: number): RecordedRequest[] {
    const found: RecordedRequest[] = [];
    let at = firstIndexWhere(this.#modules, ({ endMs }) => endMs > evaluatedMs) - 1;
    for (; at >= 0 && found.length < MAX_AWAITED; at--) {
      const module = this.#modules[at]!;
      if (module.endMs <= readyMs) break;
      const importMs = this.#firstImportMs.get(module.id) ?? Number.POSITIVE_INFINITY;
      if (importMs > evaluatedMs) found.push(module);
    }
    return found;
  }
}
