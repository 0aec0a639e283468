import { MAX_ENTRIES, MAX_SCRIPT_RUN_CHARS, MAX_TEXT_CHARS } from './limits.ts';
import type { ScriptRun } from './page-timings.ts';
import { withoutFragment } from './url-text.ts';

/** The external scripts that have run in a frame, limited to what fits into one message to the worker. */
export class ScriptRunLog {
  readonly runs: ScriptRun[] = [];
  #charsLeft = MAX_SCRIPT_RUN_CHARS;

  /**
   * Adds the run that a `load` event reports: the browser fires it at the element of an external script as soon as the
   * script has run (HTML section 4.12.1.1, "execute the script element").
   *
   * @param endMs time of the event after the frame's time origin
   */
  addLoadEvent(event: Event, endMs: number): void {
    const { target } = event;
    if (!event.isTrusted || !(target instanceof HTMLScriptElement) || this.runs.length === MAX_ENTRIES)
      return;
    // Undefined for scripts of SVG.
    const url = withoutFragment(target.src ?? '');
    if (!/^https?:/.test(url) || url.length > MAX_TEXT_CHARS || url.length > this.#charsLeft) return;
    this.#charsLeft -= url.length;
    const async = target.hasAttribute('async');
    this.runs.push({
      url,
      endMs,
      // The property is true without the attribute for elements that scripts have created, never for those in the markup.
      inserted: target.async && !async,
      deferred: !target.async && (target.defer || target.type === 'module'),
    });
  }
}
