import type { Author } from './author.ts';
import { ElementLog, urlOfScript } from './element-log.ts';
import type { RequestMaker } from './page-timings.ts';
import { isClassicScript } from './parser-position.ts';
import { findMaker } from './request-maker.ts';
import { ScriptRunLog } from './script-runs.ts';
import { withoutFragment } from './url-text.ts';

const LONG_FRAME = 'long-animation-frame';

/** A frame over 50 ms, with the scripts of 5 ms or more in it (Long Animation Frames API); Chromium only. */
interface LongFrame extends PerformanceEntry {
  scripts: { sourceURL: string; startTime: number; duration: number }[];
}

/**
 * Observes from the isolated world, without a trace in the page's own, which scripts run when and which elements each inserts.
 * A delivery of mutations, an event of an element and the end of a task each show a time at which no earlier script runs any more.
 * Mutations are observed until the log of elements has its share of them.
 */
export class ScriptObserver {
  #elements = new ElementLog();
  #runs = new ScriptRunLog();
  readonly #mutations = new MutationObserver((records) => this.#addMutations(records));
  readonly #longFrames = new PerformanceObserver((list) => this.#addLongFrames(list.getEntries()));
  readonly #tasks = new MessageChannel();
  /** Latest time at which no script was running that runs now. */
  #idleMs = 0;
  /** Author of the last mutations, until the end of their task. */
  #taskAuthor: Author | null = null;
  /** Since when an inline script may be running. */
  #inlineSinceMs: number | null = null;

  constructor() {
    document.addEventListener('load', this.#onElementEvent, true);
    document.addEventListener('error', this.#onElementEvent, true);
    document.addEventListener('readystatechange', this.#onReadyState);
    this.#tasks.port1.onmessage = () => this.#endTask();
    // No attributes: a page could tell by time which ones are observed.
    this.#mutations.observe(document, { childList: true, subtree: true });
    // Where the type is unknown, the attempt would leave a warning in the page's console.
    if (PerformanceObserver.supportedEntryTypes.includes(LONG_FRAME)) {
      this.#longFrames.observe({ type: LONG_FRAME, buffered: true });
    }
  }

  /** In order of their ends. */
  get runs() {
    return this.#runs.runs.toSorted((a, b) => a.endMs - b.endMs);
  }

  findMaker(entry: PerformanceResourceTiming): RequestMaker | null {
    return findMaker(entry, this.#elements);
  }

  /** Forgets everything observed. */
  clear(): void {
    this.#elements = new ElementLog();
    this.#runs = new ScriptRunLog();
  }

  disconnect(): void {
    document.removeEventListener('load', this.#onElementEvent, true);
    document.removeEventListener('error', this.#onElementEvent, true);
    document.removeEventListener('readystatechange', this.#onReadyState);
    this.#tasks.port1.close();
    this.#mutations.disconnect();
    this.#longFrames.disconnect();
  }

  readonly #addMutations = (records: MutationRecord[]) => {
    const nowMs = performance.now();
    const script = document.currentScript;
    const author = this.#elements.add(records, script, document.readyState === 'loading', this.#idleMs);
    // The page pays for each further mutation, whatever is done with it.
    if (this.#elements.isIncomplete) this.#mutations.disconnect();
    if (script && urlOfScript(script) === '') this.#inlineSinceMs ??= this.#idleMs;
    this.#endInlineScript(nowMs);
    this.#taskAuthor = author;
    this.#idleMs = nowMs;
    if (author.by === 'parser' && endsAtInlineScript(records)) this.#inlineSinceMs = nowMs;
    this.#tasks.port2.postMessage(null);
  };

  readonly #onElementEvent = (event: Event) => {
    const nowMs = performance.now();
    this.#endInlineScript(nowMs);
    const { target } = event;
    if (target instanceof Element && event.isTrusted) this.#elements.addLoaded(target);
    if (target instanceof HTMLScriptElement && event.isTrusted) {
      this.#elements.endScript(target);
      const author = this.#taskAuthor;
      // While a module runs there is no current script. Its load event follows in the same task.
      if (author?.scriptUrl === null && target.type === 'module') {
        Object.assign(author, { by: 'script', scriptUrl: urlOfScript(target) });
      }
      if (event.type === 'load') this.#runs.addLoadEvent(event, author?.sinceMs ?? this.#idleMs, nowMs);
    }
    this.#taskAuthor = null;
    this.#idleMs = nowMs;
  };

  /** What the parser has inserted at the end is not delivered before the first deferred script has run. */
  readonly #onReadyState = () => {
    const records = this.#mutations.takeRecords();
    if (records.length > 0) this.#elements.add(records, null, true, this.#idleMs);
    this.#endTask();
  };

  #endTask(): void {
    const nowMs = performance.now();
    this.#endInlineScript(nowMs);
    this.#taskAuthor = null;
    this.#idleMs = nowMs;
  }

  #endInlineScript(nowMs: number): void {
    if (this.#inlineSinceMs !== null) this.#runs.addRun('', this.#inlineSinceMs, nowMs);
    this.#inlineSinceMs = null;
  }

  #addLongFrames(entries: PerformanceEntryList): void {
    for (const { sourceURL, startTime, duration } of (entries as LongFrame[]).flatMap(
      ({ scripts }) => scripts,
    )) {
      const url = withoutFragment(sourceURL);
      if (!/^https?:/.test(url)) continue;
      this.#runs.addRun(url === withoutFragment(document.URL) ? '' : url, startTime, startTime + duration);
    }
  }
}

function endsAtInlineScript(records: MutationRecord[]): boolean {
  const inserted = records.findLast(({ addedNodes }) => addedNodes.length > 0)?.addedNodes;
  // The script's text is a node of its own.
  const node = inserted?.[inserted.length - 1];
  const script = node?.nodeType === Node.TEXT_NODE ? node.parentNode : node;
  return script instanceof HTMLScriptElement && script.src === '' && isClassicScript(script);
}
