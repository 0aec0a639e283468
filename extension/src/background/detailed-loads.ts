import { canListen, listenToTab, type RequestSink } from '../recorder/web-request.ts';
import type { DetailedPages } from './detailed-pages.ts';

/** Pages of the extension that show a tab ask for its load every second. */
const WATCHED_MS = 3_000;

type Pages = Pick<DetailedPages, 'ready' | 'isForAll' | 'has' | 'want'>;

/** Listens to the requests of those tabs whose load is recorded in detail, and of no others. */
export class DetailedLoads {
  readonly #sink: RequestSink;
  readonly #pages: Pages;
  /** Ends listening, by tab. */
  readonly #listening = new Map<number | 'all', () => void>();
  /** Timers that end watching, by tab. */
  readonly #watched = new Map<number, ReturnType<typeof setTimeout>>();

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

  /** A person looks at a tab in popup or panel: what it loads next is recorded from the navigation on. */
  watch(tabId: number): void {
    clearTimeout(this.#watched.get(tabId));
    const timer = setTimeout(() => {
      this.#watched.delete(tabId);
      this.end(tabId);
    }, WATCHED_MS);
    this.#watched.set(tabId, timer);
    if (!this.#pages.isForAll) this.#listen(tabId);
  }

  /**
   * A tab begins to load a page.
   *
   * @returns whether it is recorded in detail
   */
  async start(tabId: number, url: string): Promise<boolean> {
    await this.#pages.ready;
    const isWatched = this.#watched.has(tabId);
    if (!this.#pages.has(url)) {
      if (!isWatched) {
        this.end(tabId);
        return false;
      }
      // For the content script, which is there before the response if all goes well.
      void this.#pages.want(url);
    }
    this.join(tabId);
    return true;
  }

  /** A page that is observed from its start on has begun: its requests are listened to from now on at the latest. */
  join(tabId: number): void {
    if (!this.#pages.isForAll) this.#listen(tabId);
  }

  /** The load has been recorded. */
  end(tabId: number | 'all'): void {
    if (tabId !== 'all' && this.#watched.has(tabId)) return;
    this.#listening.get(tabId)?.();
    this.#listening.delete(tabId);
  }

  /** Ends listening to tabs that are closed. */
  async removeClosedTabs(): Promise<void> {
    const open = new Set((await chrome.tabs.query({})).map(({ id }) => id));
    for (const tabId of this.#listening.keys()) if (tabId !== 'all' && !open.has(tabId)) this.end(tabId);
  }

  #listen(tabId: number | 'all'): void {
    if (this.#listening.has(tabId) || !canListen()) return;
    this.#listening.set(tabId, listenToTab(tabId, this.#sink));
  }
}
