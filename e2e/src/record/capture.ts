/** Loads a page in Chromium and keeps what it asked for and was answered, bodies included. */
import { createHash } from 'node:crypto';
import { type Protocol, parseProtocol, type ResourceType } from '@hopwise/pageload-emulator';
import {
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
  type Request,
  type Response,
} from 'playwright-core';
import { firstLine, UserError } from '../start/errors.ts';
import { CHROMIUM_ARGS } from '../truth/loads.ts';
import { determinismScript } from './determinism.ts';

export interface CaptureOptions {
  url: string;
  /** Chromium. */
  executablePath: string;
  headed: boolean;
  /** Time to the load event; a page without one is kept as far as it came. */
  timeoutMs: number;
  /** How long requests are watched after the load event. */
  waitMs: number;
  /** Of all bodies together, decoded. */
  maxBytes: number;
  /** Of the page's chance. */
  seed: number;
  /** Further switches of Chromium. */
  args: string[];
  onProgress?(text: string): void;
  signal: AbortSignal;
}

/** A request and its answer. Times are milliseconds after the navigation began. */
export interface Captured {
  /** Without fragment. */
  url: string;
  method: string;
  type: ResourceType;
  startMs: number;
  endMs: number;
  /** Milliseconds after `startMs`; -1 where there was no such phase. */
  timing: ReturnType<Request['timing']>;
  /** SHA-256 of the request's body in hex; null without one. */
  requestSha256: string | null;
  /** Null when there was none. */
  answer: CapturedAnswer | null;
  /** Why there is no answer, or no whole one; null when all is well. */
  failure: string | null;
}

export interface CapturedAnswer {
  status: number;
  headers: { name: string; value: string }[];
  protocol: Protocol | null;
  remoteIp: string | null;
  /** Body bytes on the wire; null when the browser did not say. */
  bodyBytes: number | null;
  /** Decoded; null when it could not be had. */
  body: Uint8Array | null;
}

export interface Capture {
  /** Unix time at which the page's clock began. */
  epochMs: number;
  /** As `156.0.…`. */
  browser: string;
  /** Of the document in the end. */
  finalUrl: string;
  /** navigationStart to loadEventEnd; null when the load event did not come in time. */
  pltMs: number | null;
  /** In order of `startMs`. */
  requests: Captured[];
  /** Requests beyond the limit, which are not kept. */
  dropped: number;
}

/** Time to the first byte of the document's answer. */
const FIRST_BYTE_TIMEOUT_MS = 30_000;
/** What the browser has for handing out one body, or all of an unfinished one. */
const BODY_TIMEOUT_MS = 10_000;
/** Requests beyond this are not kept. */
const MAX_REQUESTS = 5_000;
const POLL_MS = 50;

/**
 * Loads the page once, cold, without cookies and service workers.
 *
 * @throws UserError in one line when the document cannot be had
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
      throw new UserError(`Chromium did not start: ${firstLine(error)}`);
    });
  const close = () => void browser.close();
  options.signal.addEventListener('abort', close, { once: true });
  try {
    options.signal.throwIfAborted();
    const context = await browser.newContext({ serviceWorkers: 'block', acceptDownloads: false });
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
  const unfinished = await watchUnfinished(page, context);
  const epochMs = Date.now();
  await page.addInitScript(determinismScript(options.seed, epochMs, epochMs));
  const watch = new Watch(page, options.maxBytes);
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
    // In between two documents there is none to ask.
    pltMs = await within(page.evaluate(loadEventEnd), BODY_TIMEOUT_MS).catch(() => null);
    options.onProgress?.(`${watch.count} requests`);
    if (pltMs === null) await sleep(POLL_MS);
  }
  if (pltMs !== null) await sleep(options.waitMs, options.signal);
  const requests = await watch.take(unfinished);
  return { epochMs, browser: version, finalUrl: page.url(), pltMs, requests, dropped: watch.dropped };
}

/** What was asked for and answered so far. */
class Watch {
  readonly #seen = new Map<Request, { startedAt: number; reading: Promise<Captured> | null }>();
  #bytesLeft: number;
  #dropped = 0;

  constructor(page: Page, maxBytes: number) {
    this.#bytesLeft = maxBytes;
    page.on('request', (request) => {
      if (!/^https?:/.test(request.url())) return;
      if (this.#seen.size >= MAX_REQUESTS) this.#dropped++;
      else this.#seen.set(request, { startedAt: Date.now(), reading: null });
    });
    // A document that goes away takes its bodies along: they are read as soon as they are whole.
    page.on('requestfinished', (request) => this.#read(request, null));
    page.on('requestfailed', (request) =>
      this.#read(request, request.failure()?.errorText ?? 'it failed without a reason'),
    );
  }

  get count(): number {
    return this.#seen.size;
  }

  get dropped(): number {
    return this.#dropped;
  }

  #read(request: Request, failure: string | null): void {
    const seen = this.#seen.get(request);
    if (seen && !seen.reading) seen.reading = this.#capture(request, seen.startedAt, failure, null);
  }

  async take(unfinished: Unfinished): Promise<Captured[]> {
    const captured = await Promise.all(
      [...this.#seen].map(async ([request, { startedAt, reading }]) => {
        if (reading) return reading;
        const body = await unfinished.bodySoFar(request);
        return this.#capture(request, startedAt, 'it had not ended when the recording did', body);
      }),
    );
    const began = Math.min(...captured.map(({ startMs }) => startMs));
    for (const request of captured) {
      request.startMs -= began;
      request.endMs -= began;
    }
    return captured.toSorted((a, b) => a.startMs - b.startMs);
  }

  async #capture(
    request: Request,
    startedAt: number,
    failure: string | null,
    partial: Uint8Array | null,
  ): Promise<Captured> {
    const timing = request.timing();
    const posted = request.postDataBuffer();
    const startMs = timing.startTime > 0 ? timing.startTime : startedAt;
    const captured: Captured = {
      url: request.url().split('#')[0] as string,
      method: request.method(),
      type: typeOf(request),
      startMs,
      endMs: timing.responseEnd > 0 ? startMs + timing.responseEnd : Date.now(),
      timing,
      requestSha256: posted === null ? null : createHash('sha256').update(posted).digest('hex'),
      answer: null,
      failure,
    };
    try {
      // `response()` waits for one; a request that failed may have had one.
      const response = await within(request.response(), failure === null ? BODY_TIMEOUT_MS : 500);
      if (response === null) return captured;
      captured.answer = await this.#answer(request, response, failure !== null, partial);
      if (captured.answer.body === null)
        captured.failure ??= 'its body is beyond the limit or was not kept by the browser';
    } catch (error) {
      captured.failure ??= firstLine(error);
    }
    return captured;
  }

  async #answer(
    request: Request,
    response: Response,
    isPartial: boolean,
    partial: Uint8Array | null,
  ): Promise<CapturedAnswer> {
    const status = response.status();
    const headers = await within(response.headersArray(), BODY_TIMEOUT_MS);
    const answer: CapturedAnswer = {
      status,
      headers,
      protocol: parseProtocol(await within(response.httpVersion(), BODY_TIMEOUT_MS).catch(() => null)),
      remoteIp: (await within(response.serverAddr(), BODY_TIMEOUT_MS).catch(() => null))?.ipAddress ?? null,
      bodyBytes: null,
      body: partial,
    };
    const bodiless = request.method() === 'HEAD' || [204, 205, 304].includes(status);
    if (bodiless || (status >= 300 && status < 400)) {
      answer.body = new Uint8Array();
      answer.bodyBytes = 0;
      return answer;
    }
    if (isPartial) return answer;
    const length = headers.find(({ name }) => name.toLowerCase() === 'content-length')?.value ?? '';
    const { responseBodySize } = await within(request.sizes(), BODY_TIMEOUT_MS);
    answer.bodyBytes = /^\d{1,15}$/.test(length) ? Number(length) : responseBodySize;
    if (answer.bodyBytes > this.#bytesLeft) return answer;
    const body = await within(response.body(), BODY_TIMEOUT_MS).catch(() => null);
    if (body === null || body.length > this.#bytesLeft) return answer;
    this.#bytesLeft -= body.length;
    answer.body = body;
    return answer;
  }
}

interface Unfinished {
  /** What came of a body that has not ended; null when the browser does not say. */
  bodySoFar(request: Request): Promise<Uint8Array | null>;
}

/** Follows the answers that do not end, such as event streams, in the page's own process. */
async function watchUnfinished(page: Page, context: BrowserContext): Promise<Unfinished> {
  const session: CDPSession = await context.newCDPSession(page);
  const open = new Map<string, { url: string; method: string }>();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    open.set(requestId, { url: request.url, method: request.method });
  });
  session.on('Network.loadingFinished', ({ requestId }) => open.delete(requestId));
  session.on('Network.loadingFailed', ({ requestId }) => open.delete(requestId));
  await session.send('Network.enable');
  return {
    async bodySoFar(request) {
      const url = request.url().split('#')[0];
      const id = [...open].find(([, own]) => own.url === url && own.method === request.method())?.[0];
      if (id === undefined) return null;
      open.delete(id);
      const streamed = session.send('Network.streamResourceContent', { requestId: id });
      const answer = await within(streamed, BODY_TIMEOUT_MS).catch(() => null);
      return answer === null ? null : Buffer.from(answer.bufferedData, 'base64');
    },
  };
}

const TYPES: Record<string, ResourceType> = {
  stylesheet: 'style',
  script: 'script',
  font: 'font',
  image: 'image',
  media: 'media',
  fetch: 'fetch',
  xhr: 'fetch',
  eventsource: 'fetch',
  ping: 'beacon',
};

function typeOf(request: Request): ResourceType {
  if (request.isNavigationRequest()) return isFramed(request) ? 'iframe' : 'document';
  return TYPES[request.resourceType()] ?? 'other';
}

function isFramed(request: Request): boolean {
  try {
    return request.frame().parentFrame() !== null;
  } catch {
    // Playwright has no frame yet for a navigation that has just begun: only the page's own comes so.
    return false;
  }
}

/** Runs in the page. */
function loadEventEnd(): number | null {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation && navigation.loadEventEnd > 0 ? navigation.loadEventEnd : null;
}

async function within<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer from the browser in ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const until = Date.now() + ms;
  while (Date.now() < until) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS, until - Date.now())));
  }
}
