/** What a tab shows, by the browser and by the document itself. */

/** What the browser tells of a tab. */
export interface TabFacts {
  /** '' when the browser hides it, or the tab was closed in the meantime. */
  url: string;
  /** Whether its page has loaded. */
  isComplete: boolean;
  /** Whether it has a document of a site to which the extension has access, or the browser's page about why it has none. */
  isOfWeb: boolean;
  /** Whether it is the one of its window that is seen. */
  isActive: boolean;
}

export async function findTab(tabId: number): Promise<TabFacts> {
  try {
    const { url = '', status, discarded, active } = await chrome.tabs.get(tabId);
    const isComplete = status === 'complete';
    return { url, isComplete, isOfWeb: isComplete && !discarded && /^http/.test(url), isActive: active };
  } catch {
    return { url: '', isComplete: false, isOfWeb: false, isActive: false };
  }
}

/** What the document that a tab shows says of itself. */
interface PageFacts {
  /** Milliseconds since 1970. */
  timeOrigin: number;
  /** Whether it has not settled yet and will report when it has: not where it was there before the extension. */
  willReport: boolean;
  /** Whether its load was stopped, by the person or by the page: its load event does not fire. It reports nonetheless, half a minute after it began. */
  isStopped: boolean;
}

/** `busy`: it did not answer in time. Null for pages of the browser, and of sites to which the extension has no access. */
export type ShownPage = PageFacts | 'busy' | null;

/** Whether a page is the one that began then, milliseconds since 1970. */
export const beganAt = (page: PageFacts, timeOrigin: number): boolean =>
  Math.abs(page.timeOrigin - timeOrigin) < 1;

const ANSWER_TIMEOUT_MS = 1_000;

/** Asks the page that a tab shows. */
export async function readShownPage(tabId: number): Promise<ShownPage> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const busy = new Promise<'busy'>((resolve) => {
    timer = setTimeout(() => resolve('busy'), ANSWER_TIMEOUT_MS);
  });
  return Promise.race([askPage(tabId), busy]).finally(() => clearTimeout(timer));
}

async function askPage(tabId: number): Promise<PageFacts | null> {
  try {
    const [result] = await chrome.scripting.executeScript({
      target: { tabId },
      injectImmediately: true,
      func: () => {
        // See `FrameRecorder`.
        const own = Reflect.get(globalThis, Symbol.for('hopwise recorder')) as
          | { willReport: boolean }
          | undefined;
        const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
        const isStopped = document.readyState === 'complete' && navigation?.loadEventEnd === 0;
        const willReport = own?.willReport ?? document.readyState !== 'complete';
        return { timeOrigin: performance.timeOrigin, willReport, isStopped };
      },
    });
    return result?.result ?? null;
  } catch {
    // The tab was closed, or no script of the extension may run in its page.
    return null;
  }
}
