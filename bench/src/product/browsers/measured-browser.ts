/** A real browser whose visits are measured: what Chromium and Firefox are asked alike. */
import type { PageAnswers, PageRequest } from '../../../../extension/src/background/page-requests.ts';

/** A tab for one visit. */
export interface MeasuredTab {
  /** Runs a script in every document of the tab before those of the page. */
  addInitScript(script: string): Promise<unknown>;
  /**
   * Goes to a page and waits for its load event.
   *
   * @throws Error when that does not come in time
   */
  load(url: string, limitMs: number): Promise<void>;
  /** Runs a function in the page. Its result is as in JSON. */
  evaluate<R>(what: () => R): Promise<R>;
  close(): Promise<void>;
}

/** A load in the extension's database. */
interface RecordedLoad {
  url: string;
  /** As in `Recording`. */
  recordedAt: string;
}

/** A page of the extension, which asks its worker. */
export interface OwnPage {
  ask<T extends PageRequest>(request: T): Promise<PageAnswers[T['type']]>;
  /**
   * Grants the permissions that pins need.
   *
   * @throws Error where the browser does not give them
   */
  allowPins(): Promise<void>;
  /** Lists the hosts whose pages are not recorded now, as patterns. */
  listUnrecorded(): Promise<string[]>;
  /** Lists the loads that are stored. The worker is not asked: it would predict them, as if a person looked. */
  listRecorded(): Promise<RecordedLoad[]>;
  close(): Promise<void>;
}

/** A browser with a profile of its own, on the lab's link, without a cache. */
export interface MeasuredBrowser {
  /** Id of the browser's first process, whose descendants are the others. */
  readonly pid: number;
  openTab(): Promise<MeasuredTab>;
  /** @throws Error in a browser without the extension */
  openOwn(): Promise<OwnPage>;
  close(): Promise<void>;
}

/** Runs in a page of the extension, for `OwnPage.listUnrecorded`. */
export async function readUnrecorded(): Promise<string[]> {
  const scripts = await chrome.scripting.getRegisteredContentScripts();
  return scripts.flatMap(({ excludeMatches = [] }) => excludeMatches);
}

/** Runs in a page of the extension, for `OwnPage.listRecorded`. */
export async function readRecorded(): Promise<RecordedLoad[]> {
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await done(indexedDB.open('hopwise'));
  const stored: { recording: RecordedLoad }[] = await done(
    database.transaction('summaries').objectStore('summaries').getAll(),
  );
  database.close();
  return stored.map(({ recording: { url, recordedAt } }) => ({ url, recordedAt }));
}
