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
