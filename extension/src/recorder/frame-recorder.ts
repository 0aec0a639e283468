/** Collects what the browser measured in a frame, and sends it when the worker requests it. */

import { LOAD_TIMEOUT_MS, MAX_ENTRIES, MAX_TEXT_CHARS } from './limits.ts';
import type {
  Collect,
  FrameResource,
  FrameTimings,
  PageSettled,
  PageShown,
  ResourceEntry,
} from './page-timings.ts';
import { limitMakers } from './request-maker.ts';
import type { ScriptObserver } from './script-observer.ts';

/** Wait after the load event: late paints, and requests that start right after it, still belong to the load. */
const SETTLE_MS = 1000;

/** A page that stays busy reports after this time. */
const IDLE_TIMEOUT_MS = 2000;

/** A page that is left before it has settled reports at once if it was open for this long. Shorter visits are not worth work while the next page loads. */
const MIN_OPEN_MS = 3000;

/** The browser may stop the worker while it records. The report is then sent again, at most this often and each time after this pause. */
const MAX_RESENDS = 3;
const RESEND_AFTER_MS = 1000;

/** A page that was there before its recorder has no more entries of its resources than this, unless it set the size itself (Resource Timing section 4.3). */
const DEFAULT_ENTRIES = 250;

/**
 * Longest load time that is reported, milliseconds: in a longer one the machine slept (which Windows counts), or the browser froze the tab. Also how long ago
 * a page that is recorded later may have loaded: before that, it may have done so on another network.
 */
const MAX_AGE_MS = 10 * 60_000;

/** Types of documents that a viewer of the browser shows, and transfers after the load: the times of the navigation are the viewer's. */
const IN_VIEWER = /pdf$|^(audio|video)/;

/** Where the frame's recorder is, in the extension's isolated world, which its content scripts and the worker's functions share. */
const OWN = Symbol.for('hopwise recorder');

/** The recorder of this frame that another content script, or this one before, has made. */
export const findOwnRecorder = (): FrameRecorder | null =>
  (globalThis as { [OWN]?: FrameRecorder })[OWN] ?? null;

/**
 * Runs in the extension's isolated world of a frame. It changes nothing that the page can see: nothing in the page's own world, no
 * attribute, no event. The top frame reports when the page has settled.
 */
export class FrameRecorder {
  /** Null where it is not observed which scripts run, and what they insert. */
  readonly #scripts: ScriptObserver | null;
  readonly #mayRecord: () => Promise<boolean>;
  readonly #resources: PerformanceResourceTiming[] = [];
  readonly #resourceKeys = new Set<string>();
  #largestPaint: { startMs: number; url: string | null } | null = null;
  /** Whether it began to load in a hidden tab. */
  readonly #wasHidden = wasHiddenAtFirst();
  #isDiscarded = false;
  #hasLoaded = false;
  /** Whether it was hidden as its load event ended. */
  #endedHidden = false;
  #hasReportedLeft = false;
  /** How many reports were sent: an earlier one is not sent again. */
  #reports = 0;
  /** Whether the page has not settled yet, and will report when it has. Read by `readShownPage` in the worker. */
  willReport = window.top === window;
  // An observer receives every later entry, regardless of the size of the page's own buffer and of the page clearing it.
  readonly #resourceObserver = new PerformanceObserver((list) => this.#addResources(list.getEntries()));
  readonly #paintObserver = new PerformanceObserver((list) => this.#updateLargestPaint(list.getEntries()));

  /** Whether it observes scripts too. */
  get isDetailed(): boolean {
    return this.#scripts !== null;
  }

  /** @param mayRecord whether the user has not excluded the site; asked before anything is sent, and what was observed is forgotten otherwise */
  constructor(scripts: ScriptObserver | null, mayRecord: () => Promise<boolean>) {
    this.#scripts = scripts;
    this.#mayRecord = mayRecord;
    Object.assign(globalThis, { [OWN]: this });
    this.#resourceObserver.observe({ type: 'resource', buffered: true });
    this.#paintObserver.observe({ type: 'largest-contentful-paint', buffered: true });
    chrome.runtime.onMessage.addListener((message: Collect, _sender, answer) => {
      if (message?.type !== 'collect' || this.#isDiscarded) return;
      answer(this.#takeTimings(performance.now()));
      if (message.final) this.#stopObserving();
    });
    if (window.top === window) this.#reportPage();
  }

  #reportPage(): void {
    // The page can dispatch such an event too.
    addEventListener('pagehide', (event) => event.isTrusted && this.#reportLeft());
    addEventListener('pageshow', (event) => {
      if (event.persisted) void this.#send(pageShown());
    });
    document.addEventListener('prerenderingchange', () => void this.#send(pageShown()), { once: true });
    const { prerendering = false } = document as { prerendering?: boolean };
    if (prerendering || readNavigation()?.activationStart || isPast(readLoadEnd())) {
      this.willReport = false;
      return;
    }
    const timer = setTimeout(
      () => this.#reportSettled(false, performance.now()),
      LOAD_TIMEOUT_MS - performance.now(),
    );
    // The browser tells an observer when the load event has ended. A listener to the event would hear synthetic ones too, which some pages
    // dispatch, and none where the page opens its document anew amid the load (`document.open`), which removes all listeners.
    const observer = new PerformanceObserver(() => {
      const loadEndMs = readLoadEnd();
      // The entry is there before the page has loaded.
      if (loadEndMs === 0) return;
      this.#hasLoaded = true;
      this.#endedHidden = document.hidden;
      observer.disconnect();
      clearTimeout(timer);
      // Where the recorder came later, what the page has requested since is not of its load.
      const limitMs = loadEndMs + SETTLE_MS + IDLE_TIMEOUT_MS;
      const report = () => this.#reportSettled(true, Math.min(performance.now(), limitMs));
      setTimeout(report, loadEndMs + SETTLE_MS - performance.now());
    });
    observer.observe({ type: 'navigation', buffered: true });
  }

  #reportSettled(loaded: boolean, settledMs: number): void {
    if (settledMs > MAX_AGE_MS) {
      // What was recorded after `LOAD_TIMEOUT_MS` stays.
      this.willReport = this.#reports > 0;
      this.#stopObserving();
      return;
    }
    // What is done with the report would slow down a page that is busy.
    requestIdleCallback(
      () => {
        void this.#send(this.#describePage(loaded, settledMs));
        // In detail, requests may be under way whose ends the worker waits for, and then asks.
        if (loaded && this.#scripts === null) this.#stopObserving();
      },
      { timeout: IDLE_TIMEOUT_MS },
    );
  }

  /** Where a network slows pages down, people do not wait for them: these loads show it too. */
  #reportLeft(): void {
    const leftMs = performance.now();
    if (!this.willReport || this.#isDiscarded || leftMs < MIN_OPEN_MS) return;
    // There is no time to ask first: the worker drops what a page of an excluded site reports.
    void isHandled({ ...this.#describePage(this.#hasLoaded, leftMs), leftMs });
    // The browser may show the page again, from its back/forward cache.
    this.#hasReportedLeft = true;
    this.willReport = false;
    this.#stopObserving();
  }

  #describePage(loaded: boolean, untilMs: number): PageSettled {
    return {
      type: 'page-settled',
      loaded,
      leftMs: null,
      hasFrames: window.length > 0,
      wasHidden: this.#wasHidden,
      endedHidden: this.#endedHidden,
      timings: this.#takeTimings(untilMs),
    };
  }

  async #send(message: PageSettled | PageShown): Promise<void> {
    if (this.#isDiscarded) return;
    if (!(await this.#mayRecord())) return this.discardAll();
    if (message.type === 'page-settled') {
      // It was left while it asked, and has come back from the back/forward cache.
      if (this.#hasReportedLeft) return;
      this.willReport = !message.loaded;
    }
    const report = ++this.#reports;
    for (let resends = 0; !(await isHandled(message)); resends++) {
      if (isOrphaned()) return this.#stopObserving();
      if (resends === MAX_RESENDS) return;
      await new Promise((resolve) => setTimeout(resolve, RESEND_AFTER_MS));
      if (report !== this.#reports) return;
    }
  }

  /** Stops observing, forgets what was observed, and reports nothing: of an excluded page, or where another recorder takes over. */
  discardAll(): void {
    this.#isDiscarded = true;
    this.willReport = false;
    this.#stopObserving();
    this.#resources.length = 0;
    this.#resourceKeys.clear();
    this.#scripts?.clear();
    this.#largestPaint = null;
  }

  #stopObserving(): void {
    this.#resourceObserver.disconnect();
    this.#paintObserver.disconnect();
    this.#scripts?.disconnect();
  }

  #addResources(entries: PerformanceEntryList): void {
    for (const entry of entries as PerformanceResourceTiming[]) {
      // An entry made while the observer registers may come from the buffer and as a new one.
      const key = `${entry.startTime} ${entry.responseEnd} ${entry.name}`;
      if (this.#resources.length >= MAX_ENTRIES || this.#resourceKeys.has(key)) continue;
      this.#resourceKeys.add(key);
      this.#resources.push(entry);
    }
  }

  #updateLargestPaint(entries: PerformanceEntryList): void {
    const last = entries.at(-1) as LargestContentfulPaint | undefined;
    if (!last) return;
    const url = /^https?:/.test(last.url) ? last.url.slice(0, MAX_TEXT_CHARS) : null;
    this.#largestPaint = { startMs: last.startTime, url };
  }

  /** @param untilMs leaves out resources that were requested later */
  #takeTimings(untilMs: number): FrameTimings {
    this.#addResources(this.#resourceObserver.takeRecords());
    this.#updateLargestPaint(this.#paintObserver.takeRecords());
    const navigation = !IN_VIEWER.test(document.contentType) && readNavigation();
    const paint = performance.getEntriesByName('first-contentful-paint', 'paint')[0];
    const web = this.#resources.filter((entry) => /^https?:/.test(entry.name) && entry.startTime <= untilMs);
    return {
      url: findUrl().slice(0, MAX_TEXT_CHARS),
      isTop: window.top === window,
      isOpaque: origin === 'null',
      timeOrigin: performance.timeOrigin,
      systemOrigin: Date.now() - performance.now(),
      navigation: navigation
        ? {
            ...toEntry(navigation),
            domInteractive: navigation.domInteractive,
            domContentLoadedEventEnd: navigation.domContentLoadedEventEnd,
            loadEventEnd: navigation.loadEventEnd,
          }
        : null,
      firstContentfulPaint: paint?.startTime ?? null,
      largestContentfulPaint: this.#largestPaint?.startMs ?? null,
      largestContentfulPaintUrl: this.#largestPaint?.url ?? null,
      resources: limitMakers(web.map((entry) => this.#toFrameResource(entry))),
      scriptRuns: this.#scripts?.runs ?? [],
    };
  }

  #toFrameResource(entry: PerformanceResourceTiming): FrameResource {
    return { ...toEntry(entry), maker: this.#scripts?.findMaker(entry) ?? null };
  }
}

/** The document's URL; for `about:srcdoc`, `blob:` and the like, which name no site, a URL of the site that wrote it. */
const findUrl = (): string =>
  [location.href, origin, document.baseURI, document.referrer].find((url) => /^https?:/.test(url)) ?? '';

/** Sends a report. @returns false when the worker stopped before it had handled it, or there is none */
async function isHandled(message: PageSettled | PageShown): Promise<boolean> {
  try {
    await chrome.runtime.sendMessage(message);
    return true;
  } catch {
    return false;
  }
}

/** Whether the extension was updated or removed while the page was open: nothing receives its messages any more. */
const isOrphaned = (): boolean => chrome.runtime?.id === undefined;

const pageShown = (): PageShown => ({ type: 'page-shown', timeOrigin: performance.timeOrigin });

/** Navigation Timing; when a prerendered page was shown, 0 for other pages, is Chromium's. */
type Navigation = PerformanceNavigationTiming & { activationStart?: number };

function readNavigation(): Navigation | undefined {
  return performance.getEntriesByType('navigation')[0] as Navigation | undefined;
}

/** Whether the document was hidden when it began. The recorder may have come later: Chromium remembers. */
function wasHiddenAtFirst(): boolean {
  const [first] = performance.getEntriesByType('visibility-state');
  return first ? first.name === 'hidden' : document.hidden;
}

/** Whether a page that was there before its recorder cannot be recorded any more: the browser may have dropped entries, or it is too long ago. */
function isPast(loadEndMs: number): boolean {
  if (loadEndMs === 0) return false;
  // The clock of `performance.now` may have stood still meanwhile.
  const isLongAgo = Date.now() - performance.timeOrigin - loadEndMs > MAX_AGE_MS;
  return isLongAgo || performance.getEntriesByType('resource').length >= DEFAULT_ENTRIES;
}

/**
 * When the load event has ended; 0 before that. Firefox was seen to give an end of some milliseconds while a page loaded: the document is
 * then not complete.
 */
function readLoadEnd(): number {
  const { domContentLoadedEventEnd = 0, loadEventEnd = 0 } = readNavigation() ?? {};
  return document.readyState === 'complete' && loadEventEnd >= domContentLoadedEventEnd ? loadEventEnd : 0;
}

const ENTRY_FIELDS = [
  'initiatorType',
  'startTime',
  'workerStart',
  'fetchStart',
  'domainLookupStart',
  'domainLookupEnd',
  'connectStart',
  'secureConnectionStart',
  'connectEnd',
  'requestStart',
  'responseStart',
  'responseEnd',
  'transferSize',
  'encodedBodySize',
  'decodedBodySize',
  'nextHopProtocol',
  'renderBlockingStatus',
  'deliveryType',
  'responseStatus',
] as const;

function toEntry(entry: PerformanceResourceTiming): ResourceEntry {
  const fields = entry as unknown as ResourceEntry;
  return Object.fromEntries([
    ['name', entry.name.slice(0, MAX_TEXT_CHARS)],
    // Firefox lacks some of the fields that are texts.
    ...ENTRY_FIELDS.map((field) => [field, fields[field] ?? '']),
  ]);
}
