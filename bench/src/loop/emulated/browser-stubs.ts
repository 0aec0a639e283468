/**
 * What the extension's worker needs of a browser, in this process: IndexedDB and `chrome.storage.session` in memory, its packaged
 * messages, permission to record in detail, and a clock that is set.
 */
import 'fake-indexeddb/auto';
import { BroadcastChannel } from 'node:worker_threads';
import { fetchMessages } from '../../../../extension/test/support/packaged-messages.ts';
import { StubbedStorage } from '../../../../extension/test/support/stubbed-storage.ts';

/** One that does not keep the process from ending. */
class IdleChannel extends BroadcastChannel {
  constructor(name: string) {
    super(name);
    this.unref();
  }
}

interface StubbedBrowser {
  /** @param ms since 1970 */
  setTime(ms: number): void;
  /** Puts back what was stubbed. The database stays. */
  restore(): void;
}

/** @param random in place of `Math.random`, so that trials are the same each time */
export function stubBrowser(random: () => number): StubbedBrowser {
  const chrome = {
    i18n: { getUILanguage: () => 'en-GB' },
    runtime: { getURL: (path: string) => path, getManifest: () => ({ version: '1' }) },
    storage: { session: new StubbedStorage() },
    webRequest: {},
    scripting: { getRegisteredContentScripts: async () => [], registerContentScripts: async () => undefined },
  };
  const before = {
    chrome: Reflect.get(globalThis, 'chrome'),
    fetch: globalThis.fetch,
    BroadcastChannel: globalThis.BroadcastChannel,
  };
  const [now, mathRandom] = [Date.now, Math.random];
  Object.assign(globalThis, { chrome, fetch: fetchMessages, BroadcastChannel: IdleChannel });
  Math.random = random;
  return {
    setTime: (ms) => {
      Date.now = () => ms;
    },
    restore: () => {
      Object.assign(globalThis, before);
      Date.now = now;
      Math.random = mathRandom;
    },
  };
}
