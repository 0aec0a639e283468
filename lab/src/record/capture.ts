/** Loads a page in Chromium and captures its requests and answers, including bodies. */
import { firstLine } from '@hopwise/contract';
import { type BrowserContext, chromium } from 'playwright-core';
import { determinismScript } from '../browser/determinism.ts';
import { startFailure } from '../browser/start-failure.ts';
import { UserError } from '../command/errors.ts';
import { CHROMIUM_ARGS } from '../loads/protocol-args.ts';
import { RecordByteBudget } from './byte-budget.ts';
import type { Captured } from './captured.ts';
import { PageNetwork } from './page-network.ts';
import { RequestWatch } from './request-watch.ts';
import { BODY_TIMEOUT_MS, within } from './within.ts';

export interface CaptureOptions {
  url: string;
  /** Chromium. */
  executablePath: string;
  headed: boolean;
  /** Time limit for the load event; without one, what was received so far is kept. */
  timeoutMs: number;
  /** How long to capture requests after the load event. */
  waitMs: number;
  /** Limit on the decoded bytes of all bodies together. */
  maxBytes: number;
  /** Seed of the page's randomness. */
  seed: number;
  /** Further switches of Chromium. */
  args: string[];
  onProgress?(text: string): void;
  signal: AbortSignal;
}

export interface Capture {
  /** Unix time at which the page's clock started. */
  epochMs: number;
  /** Version, such as `156.0.…`. */
  browser: string;
  /** URL of the final document. */
  finalUrl: string;
  /** navigationStart to loadEventEnd; null without a load event in time. */
  pltMs: number | null;
  /** In order of `startMs`. */
  requests: Captured[];
  /** Number of requests dropped beyond the limit. */
  dropped: number;
}

/** Time to the first byte of the document's answer. */
const FIRST_BYTE_TIMEOUT_MS = 30_000;
const POLL_MS = 50;

/**
 * Loads the page once, cold, without cookies and service workers.
 *
 * @throws UserError in one line when the document cannot be loaded
 */
export async function capture(options: CaptureOptions): Promise<Capture> {
  const browser = await chromium
    .launch({
      executablePath: options.executablePath,
      headless: !options.headed,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      args: [...CHROMIUM_ARGS, ...options.args],
      timeout: 30_000,
    })
    .catch((error) => {
      throw startFailure(error, options.executablePath);
    });
  const close = () => void browser.close();
  options.signal.addEventListener('abort', close, { once: true });
  try {
    options.signal.throwIfAborted();
    const context = await browser.newContext({ acceptDownloads: false });
    return await captureIn(context, browser.version(), options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw error;
  } finally {
    options.signal.removeEventListener('abort', close);
    await browser.close();
  }
}

async function captureIn(
  context: BrowserContext,
  version: string,
  options: CaptureOptions,
): Promise<Capture> {
  const page = await context.newPage();
  context.on('page', (popup) => void popup.close().catch(() => undefined));
  const budget = new RecordByteBudget(options.maxBytes);
  const network = await PageNetwork.watch(context, page, budget);
  const epochMs = Date.now();
  await page.addInitScript(determinismScript(options.seed, epochMs, epochMs));
  const watch = new RequestWatch(page, network, budget);
  const deadline = Date.now() + options.timeoutMs;
  try {
    await page.goto(options.url, {
      waitUntil: 'commit',
      timeout: Math.min(FIRST_BYTE_TIMEOUT_MS, options.timeoutMs),
    });
  } catch (error) {
    options.signal.throwIfAborted();
    throw new UserError(
      `${options.url}: no page came: ${firstLine(error)
        .replace(/^page\.goto: /, '')
        .replace(/ at https?:.*/, '')}`,
    );
  }
  let pltMs: number | null = null;
  while (pltMs === null && Date.now() < deadline) {
    options.signal.throwIfAborted();
    // Between two documents there is no page to evaluate in.
    pltMs = await within(page.evaluate(loadEventEnd), BODY_TIMEOUT_MS).catch(() => null);
    options.onProgress?.(`${watch.count} requests`);
    if (pltMs === null) await sleep(POLL_MS);
  }
  if (pltMs !== null) await sleep(options.waitMs, options.signal);
  const requests = await watch.take();
  return { epochMs, browser: version, finalUrl: page.url(), pltMs, requests, dropped: watch.dropped };
}

/** Runs in the page. */
function loadEventEnd(): number | null {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation && navigation.loadEventEnd > 0 ? navigation.loadEventEnd : null;
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const until = Date.now() + ms;
  while (Date.now() < until) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS, until - Date.now())));
  }
}
