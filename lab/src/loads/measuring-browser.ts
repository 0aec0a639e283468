/** Page loads in real Chromium under a forced protocol or the browser's own choice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { firstLine } from '@hopwise/contract';
import { originOf, type Protocol, type Recording } from '@hopwise/pageload-emulator';
import { type Browser, type BrowserContext, chromium, errors, type Page } from 'playwright-core';
import { startFailure } from '../browser/start-failure.ts';
import { LoadObserver, navigationStart } from './cdp-observer.ts';
import { observedLoad, type PageTiming } from './cdp-recording.ts';
import { type BrowserProtocol, CHROMIUM_ARGS, protocolArgs } from './protocol-args.ts';
import { completeWorkerScripts } from './worker-scripts.ts';

interface MeasuringBrowserOptions {
  /** Chromium, or a script that starts it with the arguments it is given. */
  executablePath: string;
  protocol: BrowserProtocol;
  /** base64 SHA-256 of the public key of the CA that signed the hosts' certificates. */
  caSpki: string;
  /** Host names of the page. */
  hosts: string[];
  headed?: boolean;
  /** Further arguments, such as `--host-resolver-rules`. */
  args?: string[];
}

/** One request that started before the load event ended. Times are milliseconds after navigationStart. */
interface LoadedRequest {
  url: string;
  /** Protocol of the answer; null without an answer or when the cache answered. */
  protocol: Protocol | null;
  startMs: number;
  endMs: number;
  /** Response bytes on the wire, headers included; 0 when there were none. */
  bytes: number;
  /** No part of the answer came over the network. */
  fromCache: boolean;
}

/** A load that fired its load event. */
export interface Load {
  ok: true;
  /** navigationStart to loadEventEnd. */
  pltMs: number;
  /** First and largest contentful paint; null when nothing was painted. */
  fcpMs: number | null;
  lcpMs: number | null;
  requests: LoadedRequest[];
  /**
   * Whether every request that the network answered was on the forced or assigned protocol; under `natural` any reported
   * protocol will do. Cached answers and unanswered requests in `failed` prove nothing: a load with nothing else, such as a
   * repeat view of a fully cacheable page, is not proved.
   */
  proved: boolean;
  /** Requests without an answer or with a status of 400 or above. */
  failed: { url: string; reason: string }[];
  /** Recording of the measured view; null when it was not asked for. */
  recording: Recording | null;
}

/** A load without a load event, with the reason in words. */
export interface FailedLoad {
  ok: false;
  /**
   * `unreachable`: no answer for the document, as when UDP is blocked under forced HTTP/3; `timeout`: no load
   * event in time; `browser`: the browser itself failed.
   */
  kind: 'unreachable' | 'timeout' | 'browser';
  reason: string;
}

export interface BrowserLoadOptions {
  /** Time to the load event. */
  timeoutMs: number;
  /** Time to the first byte of the document's answer. */
  firstByteTimeoutMs?: number;
  /**
   * `warm` is the repeat view: the page is loaded unmeasured in the same fresh context and closed, and then loaded
   * again in a new page. It keeps the first view's HTTP cache, cookies, Alt-Svc, TLS and QUIC sessions, but not the memory
   * cache. Open connections are kept too, unless `betweenViews` makes the server close them (Chromium has no command for that).
   * `cold` unless given.
   */
  view?: 'cold' | 'warm';
  // Errors of these callbacks are thrown by `load`.
  /** Between the first view and the measured one of a warm load. */
  betweenViews?: () => Promise<void>;
  /** Right before the measured navigation. */
  onNavigation?: () => Promise<void>;
  /** After the load event of the measured view, before the requests started by then have ended. */
  onLoadEvent?: () => Promise<void>;
  /** Whether the load is recorded; true unless given. */
  record?: boolean;
  /** Script that every frame runs before its own. */
  initScript?: string;
  /** Factor by which the page's main thread is slower (DevTools' CPU throttling); 1 unless given. */
  cpuSlowdown?: number;
}

const FIRST_BYTE_TIMEOUT_MS = 9_000;
/** Time for requests that started before the load event, but did not delay it, to end. */
const SETTLE_MS = 3_000;
/** A light page's first paint may follow its load event, on a busy machine by some time. */
const PAINT_WAIT_MS = 1000;
/** Every step other than the load itself takes the browser far less. */
const ANSWER_MS = 10_000;
/** Chromium with one protocol setting. Each load has its own cache and connections. */
export class MeasuringBrowser {
  readonly protocol: BrowserProtocol;
  readonly #browser: Browser;
  readonly #pid: number;

  private constructor(protocol: BrowserProtocol, browser: Browser, pid: number) {
    this.protocol = protocol;
    this.#browser = browser;
    this.#pid = pid;
  }

  /** @throws UserError when Chromium does not start. */
  static async launch(options: MeasuringBrowserOptions): Promise<MeasuringBrowser> {
    const launched = chromium.launch({
      executablePath: options.executablePath,
      headless: !options.headed,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      args: [
        ...protocolArgs(options.protocol, options.hosts),
        `--ignore-certificate-errors-spki-list=${options.caSpki}`,
        ...CHROMIUM_ARGS,
        ...(options.args ?? []),
      ],
    });
    const browser = await launched.catch((error) => {
      throw startFailure(error, options.executablePath);
    });
    try {
      return new MeasuringBrowser(options.protocol, browser, await pidOf(browser));
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** Version of the browser, as `156.0.…`. */
  get version(): string {
    return this.#browser.version();
  }

  /** The browser's main process; the others descend from it. */
  pids(): number[] {
    return [this.#pid];
  }

  /**
   * Loads `url` once. A failure of the load is returned, not thrown.
   *
   * @throws only what the functions in `options` throw
   */
  async load(url: string, options: BrowserLoadOptions): Promise<Load | FailedLoad> {
    const limitMs = options.timeoutMs + ANSWER_MS;
    let context: BrowserContext | undefined;
    try {
      context = await this.#answered(this.#browser.newContext(), ANSWER_MS);
      if (options.initScript !== undefined) await context.addInitScript(options.initScript);
      if (options.view === 'warm') {
        const failure = await this.#answered(this.#visit(context, url, options), limitMs);
        if (failure) return { ...failure, reason: `first view: ${failure.reason}` };
        await callersOwn(options.betweenViews);
      }
      return await this.#answered(this.#measure(context, url, options), limitMs);
    } catch (error) {
      if (error instanceof CallersError) throw error.cause;
      return { ok: false, kind: 'browser', reason: firstLine(error) };
    } finally {
      // An ended browser has no context to close; closing one that hangs is up to the caller.
      if (context) await this.#answered(context.close(), ANSWER_MS).catch(() => undefined);
    }
  }

  /** @throws when the browser ends before the work is done or does not finish it within `limitMs`. */
  async #answered<T>(work: Promise<T>, limitMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    let onGone: () => void = () => undefined;
    const failed = new Promise<never>((_, reject) => {
      onGone = () => reject(new Error('the browser has gone'));
      timer = setTimeout(() => reject(new Error(`the browser did not answer in ${limitMs} ms`)), limitMs);
    });
    this.#browser.once('disconnected', onGone);
    if (!this.#browser.isConnected()) onGone();
    try {
      return await Promise.race([work, failed]);
    } finally {
      clearTimeout(timer);
      this.#browser.off('disconnected', onGone);
    }
  }

  async #visit(
    context: BrowserContext,
    url: string,
    options: BrowserLoadOptions,
  ): Promise<FailedLoad | null> {
    const page = await context.newPage();
    const observer = await LoadObserver.follow(await context.newCDPSession(page));
    const failure = await this.#untilLoadEvent(page, url, options, observer);
    if (failure === null) await settle(observer, Number.POSITIVE_INFINITY);
    await page.close();
    return failure;
  }

  async #measure(
    context: BrowserContext,
    url: string,
    options: BrowserLoadOptions,
  ): Promise<Load | FailedLoad> {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    const observer = await LoadObserver.follow(session);
    if (options.cpuSlowdown !== undefined && options.cpuSlowdown !== 1) {
      await session.send('Emulation.setCPUThrottlingRate', { rate: options.cpuSlowdown });
    }
    await callersOwn(options.onNavigation);
    const failure = await this.#untilLoadEvent(page, url, options, observer);
    if (failure) return failure;
    await callersOwn(options.onLoadEvent);
    const timing = await page.evaluate(readPageTiming, PAINT_WAIT_MS);
    const startedAt = await navigationStart(session);
    await settle(observer, startedAt + timing.pltMs);
    const hops = observer.hops();
    await completeWorkerScripts(page, hops, startedAt, timing.timeOrigin);
    const { recording, failed } = observedLoad(
      hops,
      { ...timing, url: page.url() },
      startedAt,
      `Chromium ${this.version}`,
    );
    const requests = recording.requests.map(
      ({ url: address, protocol, startMs, endMs, transferBytes, fromCache }): LoadedRequest => ({
        url: address,
        protocol,
        startMs,
        endMs,
        bytes: transferBytes ?? 0,
        fromCache,
      }),
    );
    return {
      ok: true,
      pltMs: timing.pltMs,
      fcpMs: timing.fcpMs,
      lcpMs: timing.lcpMs,
      requests,
      proved: isProved(requests, failed, this.protocol),
      failed,
      recording: options.record === false ? null : recording,
    };
  }

  /** @returns null once the load event has fired. */
  async #untilLoadEvent(
    page: Page,
    url: string,
    options: BrowserLoadOptions,
    observer: LoadObserver,
  ): Promise<FailedLoad | null> {
    const started = performance.now();
    const firstByteMs = Math.min(options.firstByteTimeoutMs ?? FIRST_BYTE_TIMEOUT_MS, options.timeoutMs);
    const crashed = new Promise<FailedLoad>((resolve) => {
      page.once('crash', () => resolve({ ok: false, kind: 'browser', reason: "the page's process crashed" }));
    });
    const loaded = async (): Promise<FailedLoad | null> => {
      try {
        await page.goto(url, { waitUntil: 'commit', timeout: firstByteMs });
      } catch (error) {
        if (!this.#browser.isConnected()) return { ok: false, kind: 'browser', reason: firstLine(error) };
        // Chromium mostly gives up on its own, and sooner.
        const why = error instanceof errors.TimeoutError ? ` in ${firstByteMs} ms` : `: ${firstLine(error)}`;
        return { ok: false, kind: 'unreachable', reason: `no answer for ${url}${why}` };
      }
      try {
        const left = Math.max(1, options.timeoutMs - (performance.now() - started));
        await page.waitForLoadState('load', { timeout: left });
        return null;
      } catch (error) {
        if (!(error instanceof errors.TimeoutError)) {
          return { ok: false, kind: 'browser', reason: firstLine(error) };
        }
        return {
          ok: false,
          kind: 'timeout',
          reason: `no load event in ${options.timeoutMs} ms, ${observer.open()} requests open`,
        };
      }
    };
    return Promise.race([loaded(), crashed]);
  }

  /** Closes the browser, and kills it if it does not end. */
  async close(): Promise<void> {
    const wasConnected = this.#browser.isConnected();
    const closing = this.#browser.close();
    const inTime = await Promise.race([closing.then(() => true), sleep(ANSWER_MS, false, { ref: false })]);
    if (inTime || !wasConnected) return;
    process.kill(this.#pid, 'SIGKILL');
    await closing;
  }
}

/** Wraps an error thrown by a callback of the caller. */
class CallersError extends Error {
  override readonly name = 'CallersError';
}

async function callersOwn(work: (() => Promise<void>) | undefined): Promise<void> {
  try {
    await work?.();
  } catch (cause) {
    throw new CallersError('thrown by the caller', { cause });
  }
}

async function pidOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const main = processInfo.find(({ type }) => type === 'browser');
  if (main === undefined) throw new Error('Chromium does not say which process it is');
  return main.id;
}

function isProved(requests: LoadedRequest[], failed: Load['failed'], wanted: BrowserProtocol): boolean {
  const unanswered = new Set(failed.map(({ url }) => url));
  const answered = requests.filter(
    ({ url, protocol, fromCache }) => !fromCache && (protocol !== null || !unanswered.has(url)),
  );
  return answered.length > 0 && answered.every((request) => isRight(request, wanted));
}

/** Whether a request was on the protocol that its browser was started for. */
function isRight({ url, protocol }: LoadedRequest, wanted: BrowserProtocol): boolean {
  if (wanted === 'natural') return protocol !== null;
  if (typeof wanted === 'string') return protocol === wanted;
  const origin = originOf(url);
  return protocol !== null && origin !== null && wanted.assignment[origin] === protocol;
}

/** Waits until requests that started by `at` (monotonic milliseconds) have ended, within a limit. */
async function settle(observer: LoadObserver, at: number): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  while (observer.open(at) > 0 && performance.now() < until) await sleep(20);
}

/**
 * Runs in the page, during or after the load event. Waits up to `paintWaitMs` for a first paint, which may follow the load
 * event of a light page.
 */
async function readPageTiming(paintWaitMs: number): Promise<Omit<PageTiming, 'url'>> {
  const navigation = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming;
  while (navigation.loadEventEnd === 0) await new Promise((resolve) => setTimeout(resolve));
  const painted = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null;
  const until = performance.now() + paintWaitMs;
  while (painted() === null && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ type: 'largest-contentful-paint', buffered: true });
  const paints = observer.takeRecords();
  observer.disconnect();
  return {
    timeOrigin: performance.timeOrigin,
    pltMs: navigation.loadEventEnd,
    domContentLoadedMs: navigation.domContentLoadedEventEnd,
    fcpMs: painted(),
    lcpMs: paints.at(-1)?.startTime ?? null,
  };
}
