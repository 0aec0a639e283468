import { listenToTab, type RequestSink } from '../recorder/web-request.ts';
import type { DetailedPages } from './detailed-pages.ts';

/** Pages of the extension that show a tab ask for its load every second. */
const WATCHED_MS = 3_000;

type Pages = Pick<DetailedPages, 'ready' | 'isForAll' | 'has' | 'want' | 'wantIfRare'>;

/** Listens to the requests of those tabs whose load is recorded in detail, and of no others. */
export class DetailedLoads {
  readonly #sink: RequestSink;
  readonly #pages: Pages;
  /** Ends listening, by tab. */
  readonly #listening = new Map<number | 'all', () => void>();
  /** When popup or panel last asked for a tab's load, milliseconds since 1970. */
  readonly #watchedMs = new Map<number, number>();

  constructor(sink: RequestSink, pages: Pages) {
    this.#sink = sink;
    this.#pages = pages;
    void pages.ready.then(() => this.update());
  }

  /** The settings have changed. */
  update(): void {
    // Not only from a navigation on: the first requests of a fast page may be under way before the listeners are there.
    if (this.#pages.isForAll) this.#listen('all');
    else this.end('all');
  }

  /** A person looks at a tab in popup or panel. */
  watch(tabId: number): void {
    this.#watchedMs.set(tabId, Date.now());
  }

  /**
   * A tab begins to load a page.
   *
   * @param isPromising whether much could be gained at the page, of which little is known
   * @returns whether it is recorded in detail
   */
  async start(tabId: number, url: string, isPromising: (url: string) => Promise<boolean>): Promise<boolean> {
    const isWatched = Date.now() - (this.#watchedMs.get(tabId) ?? 0) < WATCHED_MS;
    if (!isWatched) await this.#pages.ready;
    if (!this.#pages.has(url)) {
      // For the content script, which is there before the response if all goes well.
      if (isWatched) void this.#pages.want(url);
      else if (!((await isPromising(url)) && (await this.#pages.wantIfRare(url)))) {
        this.end(tabId);
        return false;
      }
    }
    if (!this.#pages.isForAll) this.#listen(tabId);
    return true;
  }

  /** The load has been recorded. */
  end(tabId: number | 'all'): void {
    this.#listening.get(tabId)?.();
    this.#listening.delete(tabId);
  }

  /** Ends listening to tabs that are closed. */
  async removeClosedTabs(): Promise<void> {
    const open = new Set((await chrome.tabs.query({})).map(({ id }) => id));
    for (const tabId of this.#listening.keys()) if (tabId !== 'all' && !open.has(tabId)) this.end(tabId);
    for (const tabId of this.#watchedMs.keys()) if (!open.has(tabId)) this.#watchedMs.delete(tabId);
  }

  #listen(tabId: number | 'all'): void {
    if (!this.#listening.has(tabId)) this.#listening.set(tabId, listenToTab(tabId, this.#sink));
  }
}
