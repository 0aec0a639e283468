import { MAX_ENTRIES } from '../recorder/limits.ts';
import type { ObservedRequest } from '../recorder/observed-request.ts';
import type { RequestSink } from '../recorder/web-request.ts';
import { withoutQueries } from '../storage/strip-load.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { ExcludedSites } from './excluded-sites.ts';

/** The current page load of a tab, or its last one. */
export interface TabLoad {
  /** webRequest's id of the navigation, or the document's where that was not listened to. */
  navigationId: string;
  /** Whether the browser's events of the navigation were listened to; otherwise the page's own report began the load. */
  isNavigationSeen: boolean;
  /** When the page's document began, milliseconds since 1970; null until the page reports. */
  timeOrigin: number | null;
  /** Names the document among those of all tabs, by the browser; '' until the page reports, and in Firefox. */
  documentId: string;
  url: string;
  /** `shown`: the browser showed the page without loading it. */
  phase: 'loading' | 'recorded' | 'failed' | 'shown';
  /** Why it could not be recorded, '' otherwise. */
  problem: string;
  /** Whether the page is observed from its start on, and its requests are listened to. */
  isDetailed: boolean;
  /** Whether URLs of before a stop of the worker have empty query strings. */
  hidesQueries: boolean;
  /** URLs of requests that failed in the network. Emptied with `requests`. */
  failures: string[];
  /** Key of the stored load, once recorded. */
  storedId: number | null;
  /** Emptied when the load has been stored. */
  requests: ObservedRequest[];
  /** Where the navigation was listened to: of the page before. The tab goes on showing it where the navigation leads to no page, such as a download. */
  before: PageBefore | null;
}

/** What became of the load of the page before. */
export type PageBefore = Pick<TabLoad, 'timeOrigin' | 'phase' | 'problem' | 'storedId'>;

const PREFIX = 'tab-load:';
const MAX_FAILURES = 200;
/** Requests arrive in bursts, so changes are saved together. The browser does not stop a worker this soon after an event. */
const SAVE_AFTER_MS = 400;
/** A list of all requests is saved as a whole each time: while it grows, not before this time, as the browser does not stop a busy worker. */
const SAVE_GROWING_AFTER_MS = 5_000;

/**
 * Page loads by tab. Held in memory and mirrored in `storage.session`, without query strings, because the browser stops
 * the worker between events and restarts it. Every change of a tab's load waits until it is as the last worker left it.
 */
export class TabLoads implements RequestSink {
  /** Sites of which no request is kept. */
  readonly excludedSites = new ExcludedSites();
  readonly #loads = new Map<number, TabLoad>();
  readonly #unsaved = new Set<number>();
  /** By tab: resolves once its load is known, as far as the last worker has saved it. */
  readonly #restored = new Map<number, Promise<unknown>>();
  readonly #onNavigation: (tabId: number, load: TabLoad) => void;
  /** By tab: what failed while no load was known, as most become known by their page's report. */
  readonly #earlyFailures = new Map<number, { url: string; atMs: number }[]>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When the last unsaved change was, milliseconds since 1970. */
  #changedMs = 0;
  /** Whether lists of requests have grown, and nothing else has changed since the last time. */
  #isGrowthAlone = true;

  /** @param onNavigation called when a tab begins to load a page that is not excluded */
  constructor(onNavigation: (tabId: number, load: TabLoad) => void = () => undefined) {
    this.#onNavigation = onNavigation;
  }

  addRequest(tabId: number, request: ObservedRequest, documentUrl: string | null = null): void {
    this.#change(tabId, () => {
      if (request.type === 'document' && this.excludedSites.has(request.url))
        return this.#loads.delete(tabId);
      if (this.#isOnExcludedSite(request, documentUrl)) return false;
      let load = this.#loads.get(tabId);
      if (request.type === 'document' && load?.navigationId !== request.requestId) {
        const before = load ? pageBefore(load) : null;
        load = { ...newLoad(request.requestId, request.url), isNavigationSeen: true, before };
        this.#loads.set(tabId, load);
        this.#onNavigation(tabId, load);
      }
      if (load?.phase !== 'loading') return false;
      if (load.requests.length >= MAX_ENTRIES) return false;
      if (load.requests.some((known) => isSameEvent(known, request))) return false;
      load.requests.push(request);
      return true;
    });
  }

  updateRequest(tabId: number, requestId: string, change: Partial<ObservedRequest>): void {
    // An event that is reported twice may belong to an earlier hop than the newest.
    const at = change.endedAt ?? change.headersAt ?? Number.POSITIVE_INFINITY;
    this.#change(tabId, () => {
      const hop = this.#loads
        .get(tabId)
        ?.requests.findLast((request) => request.requestId === requestId && !(request.startedAt > at));
      if (hop) Object.assign(hop, change);
      return hop !== undefined;
    });
  }

  addFailure(tabId: number, url: string): void {
    this.#change(tabId, () => {
      const load = this.#loads.get(tabId);
      if (load?.phase === 'loading') {
        if (load.failures.length >= MAX_FAILURES) return false;
        load.failures.push(url);
        return true;
      }
      const early = this.#earlyFailures.get(tabId) ?? [];
      this.#earlyFailures.set(tabId, [...early, { url, atMs: Date.now() }].slice(-MAX_FAILURES));
      return false;
    });
  }

  /**
   * A page reports of its load, whose navigation was not listened to. What it reports first begins the load.
   *
   * @param documentId names the document among those of all tabs
   * @param url of the page, by the browser
   */
  begin(tabId: number, documentId: string, url: string, change: Partial<TabLoad>): void {
    this.#change(tabId, () => {
      if (this.excludedSites.has(url)) return this.#loads.delete(tabId);
      const known = this.#loads.get(tabId);
      if (known?.navigationId === documentId) {
        Object.assign(known, change);
        return true;
      }
      const failures = (this.#earlyFailures.get(tabId) ?? [])
        .filter(({ atMs }) => atMs >= (change.timeOrigin ?? 0))
        .map((failure) => failure.url);
      this.#earlyFailures.delete(tabId);
      this.#loads.set(tabId, { ...newLoad(documentId, url), failures, ...change });
      return true;
    });
  }

  /** Whether a document of an excluded site, or a frame for one, made the request. */
  #isOnExcludedSite({ type, url }: ObservedRequest, documentUrl: string | null): boolean {
    if (type === 'document') return false;
    return (
      (type === 'iframe' && this.excludedSites.has(url)) ||
      (documentUrl !== null && this.excludedSites.has(documentUrl))
    );
  }

  /** Changes the load of a tab if it is still the one that `navigationId` names. */
  updateLoad(tabId: number, navigationId: string, change: Partial<TabLoad>): void {
    this.#change(tabId, () => {
      const load = this.#loads.get(tabId);
      if (load?.navigationId !== navigationId) return false;
      Object.assign(load, change);
      return true;
    });
  }

  /** The tab shows a page that was not loaded in it: the requests seen belong to another page. */
  markShownWithoutLoad(tabId: number, timeOrigin: number): void {
    this.#change(tabId, () => {
      this.#loads.set(tabId, { ...newLoad('', ''), timeOrigin, phase: 'shown' });
      return true;
    });
  }

  removeTab(tabId: number): void {
    this.#earlyFailures.delete(tabId);
    this.#change(tabId, () => this.#loads.delete(tabId));
  }

  /** Removes the loads of tabs that are closed. */
  async removeClosedTabs(): Promise<void> {
    const open = new Set((await chrome.tabs.query({})).map(({ id }) => id));
    const known = [...(await this.#restoreAll()), ...this.#earlyFailures.keys()];
    for (const tabId of known) if (!open.has(tabId)) this.removeTab(tabId);
  }

  /** Removes the loads that `isRemoved` selects from all tabs. */
  async removeLoads(isRemoved: (load: TabLoad) => boolean): Promise<void> {
    await this.#restoreAll();
    for (const [tabId, load] of this.#loads) if (isRemoved(load)) this.removeTab(tabId);
  }

  async getLoad(tabId: number): Promise<TabLoad | undefined> {
    await this.#restore(tabId);
    return this.#loads.get(tabId);
  }

  /** @param apply returns whether it changed anything */
  #change(tabId: number, apply: () => boolean): void {
    void this.#restore(tabId).then(() => {
      if (!apply()) return;
      this.#unsaved.add(tabId);
      const load = this.#loads.get(tabId);
      this.#isGrowthAlone &&= load?.isDetailed === true && load.phase === 'loading';
      this.#changedMs = Date.now();
      this.#timer ??= setTimeout(() => this.#saveWhenQuiet(0), SAVE_AFTER_MS);
    });
  }

  #restore(tabId: number): Promise<unknown> {
    const known = this.#restored.get(tabId);
    if (known) return known;
    const restored = Promise.all([this.#read(tabId), this.excludedSites.ready]);
    this.#restored.set(tabId, restored);
    return restored;
  }

  async #read(tabId: number): Promise<void> {
    const key = PREFIX + tabId;
    const load = (await chrome.storage.session.get(key))[key] as TabLoad | undefined;
    if (load) this.#loads.set(tabId, load);
  }

  /** Reads everything that is kept for the session, which takes long. @returns the tabs of which a load is known */
  async #restoreAll(): Promise<number[]> {
    const keys = Object.keys(await chrome.storage.session.get(null)).filter((key) => key.startsWith(PREFIX));
    await Promise.all(keys.map((key) => this.#restore(Number(key.slice(PREFIX.length)))));
    await Promise.all(this.#restored.values());
    return [...this.#loads.keys()];
  }

  #saveWhenQuiet(waitedMs: number): void {
    const leftMs = SAVE_AFTER_MS - (Date.now() - this.#changedMs);
    const mayWait = this.#isGrowthAlone && waitedMs < SAVE_GROWING_AFTER_MS;
    if (leftMs <= 0 || !mayWait) void this.#save();
    else this.#timer = setTimeout(() => this.#saveWhenQuiet(waitedMs + leftMs), leftMs);
  }

  async #save(): Promise<void> {
    this.#timer = null;
    this.#isGrowthAlone = true;
    const tabs = [...this.#unsaved];
    this.#unsaved.clear();
    const entries = tabs.flatMap((tabId) => {
      const load = this.#loads.get(tabId);
      return load ? [[PREFIX + tabId, { ...withoutQueries(load), hidesQueries: true }] as const] : [];
    });
    try {
      await chrome.storage.session.set(Object.fromEntries(entries));
      await chrome.storage.session.remove(
        tabs.filter((tab) => !this.#loads.has(tab)).map((tab) => PREFIX + tab),
      );
    } catch (error) {
      // Over quota: the loads remain in memory and are lost only if the browser stops the worker.
      console.error('hopwise: page loads were not saved:', error);
    }
  }
}

const newLoad = (navigationId: string, url: string): TabLoad => ({
  navigationId,
  isNavigationSeen: false,
  timeOrigin: null,
  documentId: '',
  url,
  phase: 'loading',
  problem: '',
  isDetailed: false,
  hidesQueries: false,
  failures: [],
  storedId: null,
  requests: [],
  before: null,
});

/** The page that a tab shows as it begins another load. Without a report, the last load may have led to no page either. */
function pageBefore({ timeOrigin, phase, problem, storedId, before }: TabLoad): PageBefore | null {
  return timeOrigin === null ? before : { timeOrigin, phase, problem, storedId };
}

/**
 * A browser may report an event twice to a worker that it has just started. A redirect from an
 * address to itself has the same id and address too, but starts later.
 */
function isSameEvent(known: ObservedRequest, request: ObservedRequest): boolean {
  return (
    known.requestId === request.requestId &&
    known.startedAt === request.startedAt &&
    // The last worker may have kept it, without its query string.
    maskQuery(known.url) === maskQuery(request.url)
  );
}
