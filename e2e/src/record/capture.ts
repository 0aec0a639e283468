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
import { firstLine, UserError } from '../command/errors.ts';
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
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const MAX_ICONS = 10;
const NOT_KEPT = 'its body is beyond the limit or was not kept by the browser';
/** What an empty body may count with its coding and frames. */
const MAX_EMPTY_BYTES = 256;

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
  const budget = new ByteBudget(options.maxBytes);
  const network = await PageNetwork.watch(context, page, budget);
  const epochMs = Date.now();
  await page.addInitScript(determinismScript(options.seed, epochMs, epochMs));
  const watch = new Watch(page, network, budget);
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
  const requests = await watch.take();
  return { epochMs, browser: version, finalUrl: page.url(), pltMs, requests, dropped: watch.dropped };
}

/** What bodies may still take. */
class ByteBudget {
  left: number;

  constructor(bytes: number) {
    this.left = bytes;
  }

  /** `body` where there is room for it, which is then taken; null else. */
  take<B extends Uint8Array>(body: B | null): B | null {
    if (body === null || body.length > this.left) return null;
    this.left -= body.length;
    return body;
  }
}

interface Seen {
  startedAt: number;
  response: Response | null;
  reading: Promise<Captured> | null;
}

/** What was asked for and answered so far. */
class Watch {
  readonly #seen = new Map<Request, Seen>();
  readonly #network: PageNetwork;
  readonly #budget: ByteBudget;
  #dropped = 0;

  constructor(page: Page, network: PageNetwork, budget: ByteBudget) {
    this.#network = network;
    this.#budget = budget;
    page.on('request', (request) => {
      if (!/^https?:/.test(request.url())) return;
      if (this.#seen.size >= MAX_REQUESTS) this.#dropped++;
      else this.#seen.set(request, { startedAt: Date.now(), response: null, reading: null });
    });
    page.on('response', (response) => {
      const seen = this.#seen.get(response.request());
      if (seen) seen.response = response;
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
    if (seen && !seen.reading) seen.reading = this.#capture(request, seen, failure, null);
  }

  async take(): Promise<Captured[]> {
    const captured = await Promise.all(
      [...this.#seen].map(async ([request, seen]) => {
        if (seen.reading) return seen.reading;
        const body = await this.#network.bodySoFar(request);
        return this.#capture(request, seen, 'it had not ended when the recording did', body);
      }),
    );
    captured.push(...(await this.#network.icons()));
    const began = Math.min(...captured.map(({ startMs }) => startMs));
    for (const request of captured) {
      request.startMs -= began;
      request.endMs -= began;
    }
    return captured.toSorted((a, b) => a.startMs - b.startMs);
  }

  async #capture(
    request: Request,
    { startedAt, response }: Seen,
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
      if (response === null) return captured;
      captured.answer = await this.#answer(request, response, failure !== null, partial);
      if (captured.answer.body === null) captured.failure ??= NOT_KEPT;
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
      body: this.#budget.take(partial),
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
    if (answer.bodyBytes > this.#budget.left) return answer;
    // The browser takes a body away from a page that may not see it (opaque response blocking).
    const isTaken = (body: Uint8Array) => body.length === 0 && (answer.bodyBytes ?? 0) > MAX_EMPTY_BYTES;
    let body: Uint8Array | null = await within(response.body(), BODY_TIMEOUT_MS).catch(() => null);
    if (body === null || isTaken(body)) body = await this.#network.body(request);
    body = body === null || isTaken(body) ? null : this.#budget.take(body);
    if (body === null) return answer;
    answer.body = body;
    if (!headers.some(({ name }) => name.toLowerCase() === 'content-encoding')) {
      // The browser takes the mark off when it decodes a text; an integrity attribute counts it.
      if (length === String(body.length + BYTE_ORDER_MARK.length)) {
        answer.body = Buffer.concat([BYTE_ORDER_MARK, body]);
      }
      // Of HTTP/2 and HTTP/3 the browser's count has frames in it.
      answer.bodyBytes = answer.body.length;
    }
    return answer;
  }
}

type IconResponse = {
  url: string;
  status: number;
  headers: Record<string, string>;
  protocol?: string;
  remoteIPAddress?: string;
  responseTime?: number;
};

const isIcon = (url: string): boolean => /^https?:/.test(url) && url.endsWith('/favicon.ico');

const NO_TIMING: Captured['timing'] = {
  startTime: -1,
  domainLookupStart: -1,
  domainLookupEnd: -1,
  connectStart: -1,
  secureConnectionStart: -1,
  connectEnd: -1,
  requestStart: -1,
  responseStart: -1,
  responseEnd: -1,
};

/** The network of the page's own process, seen without Playwright's bounds. */
class PageNetwork {
  readonly #session: CDPSession;
  readonly #budget: ByteBudget;
  /** By the browser's id, in order. */
  readonly #requests = new Map<string, { url: string; method: string; isOpen: boolean }>();
  /** Answers for `favicon.ico`, which Playwright does not tell of. */
  readonly #icons = new Map<string, IconResponse>();

  private constructor(session: CDPSession, budget: ByteBudget) {
    this.#session = session;
    this.#budget = budget;
    session.on('Network.requestWillBeSent', ({ requestId, request: { url, method } }) => {
      // A data: URL is all of its content.
      if (!/^https?:/.test(url)) return;
      // A page that asks without end fills no memory.
      if (this.#requests.size < MAX_REQUESTS) this.#requests.set(requestId, { url, method, isOpen: true });
    });
    const close = ({ requestId }: { requestId: string }) => {
      const request = this.#requests.get(requestId);
      if (request) request.isOpen = false;
    };
    session.on('Network.responseReceived', ({ requestId, response }) => {
      if (isIcon(response.url) && this.#icons.size < MAX_ICONS) this.#icons.set(requestId, response);
    });
    session.on('Network.loadingFinished', close);
    session.on('Network.loadingFailed', close);
  }

  static async watch(context: BrowserContext, page: Page, budget: ByteBudget): Promise<PageNetwork> {
    const session = await context.newCDPSession(page);
    const network = new PageNetwork(session, budget);
    const bytes = budget.left;
    await session.send('Network.enable', { maxTotalBufferSize: bytes, maxResourceBufferSize: bytes });
    return network;
  }

  /** The whole body of a request that has ended; null when the browser has none. */
  async body(request: Request): Promise<Uint8Array | null> {
    const requestId = this.#take(request, false);
    if (requestId === null) return null;
    const reading = this.#session.send('Network.getResponseBody', { requestId });
    const answer = await within(reading, BODY_TIMEOUT_MS).catch(() => null);
    return answer === null ? null : Buffer.from(answer.body, answer.base64Encoded ? 'base64' : 'utf8');
  }

  /** What came of a body that has not ended, such as an event stream's; null when the browser has none. */
  async bodySoFar(request: Request): Promise<Uint8Array | null> {
    const requestId = this.#take(request, true);
    if (requestId === null) return null;
    const reading = this.#session.send('Network.streamResourceContent', { requestId });
    const answer = await within(reading, BODY_TIMEOUT_MS).catch(() => null);
    return answer === null ? null : Buffer.from(answer.bufferedData, 'base64');
  }

  /** The icons, as far as they came; `startMs` is Unix time. */
  icons(): Promise<Captured[]> {
    return Promise.all(
      [...this.#icons].map(async ([requestId, response]) => {
        const reading = this.#session.send('Network.getResponseBody', { requestId });
        const answer = await within(reading, BODY_TIMEOUT_MS).catch(() => null);
        const body = this.#budget.take(
          answer && Buffer.from(answer.body, answer.base64Encoded ? 'base64' : 'utf8'),
        );
        return {
          url: response.url.split('#')[0] as string,
          method: 'GET',
          type: 'other' as const,
          startMs: response.responseTime ?? Date.now(),
          endMs: response.responseTime ?? Date.now(),
          timing: NO_TIMING,
          requestSha256: null,
          answer: {
            status: response.status,
            headers: Object.entries(response.headers).map(([name, value]) => ({ name, value })),
            protocol: parseProtocol(response.protocol),
            remoteIp: response.remoteIPAddress ?? null,
            bodyBytes: body?.length ?? null,
            body,
          },
          failure: body === null ? NOT_KEPT : null,
        };
      }),
    );
  }

  /** The id of such a request, once. */
  #take(request: Request, isOpen: boolean): string | null {
    const url = request.url().split('#')[0];
    for (const [id, own] of this.#requests) {
      if (own.url.split('#')[0] !== url || own.method !== request.method() || own.isOpen !== isOpen) continue;
      this.#requests.delete(id);
      return id;
    }
    return null;
  }
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
