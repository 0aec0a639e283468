import { MAX_ENTRIES, MAX_SCRIPT_RUN_CHARS, MAX_TEXT_CHARS } from './limits.ts';
import type { ScriptRun } from './page-timings.ts';
import { withoutFragment } from './url-text.ts';

type Flags = Pick<ScriptRun, 'inserted' | 'deferred'>;

const NO_FLAGS: Flags = { inserted: false, deferred: false };

/** The scripts that have run in a frame, limited to what fits into one message to the worker. */
export class ScriptRunLog {
  readonly runs: ScriptRun[] = [];
  #charsLeft = MAX_SCRIPT_RUN_CHARS;

  /**
   * Adds the run that a `load` event reports: the browser fires it at the element of an external script as soon as the
   * script has run (HTML section 4.12.1.1, "execute the script element").
   *
   * @param startMs when the script cannot have been running yet, after the frame's time origin
   * @param endMs time of the event after the frame's time origin
   */
  addLoadEvent(event: Event, startMs: number, endMs: number): void {
    const { target } = event;
    if (!event.isTrusted || !(target instanceof HTMLScriptElement)) return;
    // Undefined for scripts of SVG.
    const url = withoutFragment(target.src ?? '');
    if (!/^https?:/.test(url)) return;
    const async = target.hasAttribute('async');
    this.addRun(url, startMs, endMs, {
      // The property is true without the attribute for elements that scripts have created, never for those in the markup.
      inserted: target.async && !async,
      deferred: !target.async && (target.defer || target.type === 'module'),
    });
  }

  /**
   * Adds a run of which both ends are known.
   *
   * @param url of the script without fragment, '' for an inline script
   */
  addRun(url: string, startMs: number, endMs: number, flags = NO_FLAGS): void {
    if (this.runs.length === MAX_ENTRIES || url.length > MAX_TEXT_CHARS || url.length > this.#charsLeft)
      return;
    this.#charsLeft -= url.length;
    this.runs.push({ url, startMs, endMs, ...flags });
  }
}
