/**
 * Hosts whose pages are not recorded for a while, as nothing is to be gained from them: in Chromium the load of a page takes longer with a content script,
 * even an empty one (`bench/docs/recorder.md`).
 */
import { messageOf, SerialQueue } from '@hopwise/contract';
import { changeUnrecordedHosts } from '../recorder/register-content-script.ts';

/** Wakes the worker, which has all pages recorded again. The browser keeps it while the worker is stopped. */
const ALARM = 'record-again';
export const REST_MINUTES = 30;
/** The oldest is recorded again. */
const MAX_HOSTS = 100;
/** Hosts of which match patterns can be made: no IPv6 addresses. */
const NAMED = /^[a-z0-9.-]+$/;
/** Pages of the extension that show a tab ask for its load every second. */
const WATCHED_MS = 3_000;

export class RestingHosts {
  readonly #changes = new SerialQueue();
  /** When a person last looked at a page, by its host, milliseconds since 1970. */
  readonly #watchedMs = new Map<string, number>();

  constructor() {
    chrome.alarms.onAlarm.addListener(({ name }) => {
      if (name === ALARM) void this.wakeAll();
    });
  }

  /** Lets the pages of a host rest, unless a person looks at one. */
  async rest(host: string): Promise<void> {
    const isWatched = Date.now() - (this.#watchedMs.get(host) ?? 0) < WATCHED_MS;
    if (isWatched || !NAMED.test(host)) return;
    const isBegun = await this.#change((hosts) =>
      [...hosts.filter((each) => each !== host), host].slice(-MAX_HOSTS),
    );
    if (isBegun && !(await chrome.alarms.get(ALARM)))
      await chrome.alarms.create(ALARM, { delayInMinutes: REST_MINUTES });
  }

  /** A person looks at a tab in popup or panel: what its host serves next is recorded. */
  async watch(tabId: number): Promise<void> {
    const { url = '' } = await chrome.tabs.get(tabId).catch(() => ({ url: '' }));
    if (!URL.canParse(url)) return;
    const { hostname } = new URL(url);
    this.#watchedMs.set(hostname, Date.now());
    await this.#change((hosts) => hosts.filter((each) => each !== hostname));
  }

  /** Something has changed, or may have: all pages are recorded again. */
  async wakeAll(): Promise<void> {
    await this.#change(() => []);
    await chrome.alarms.clear(ALARM);
  }

  /** @returns whether the hosts are others now */
  #change(change: (hosts: readonly string[]) => string[]): Promise<boolean> {
    return this.#changes.run(async () => {
      try {
        return await changeUnrecordedHosts(change);
      } catch (error) {
        console.warn('hopwise: resting hosts:', messageOf(error));
        return false;
      }
    });
  }
}
