/** Page loads in real Chromium under a forced or the browser's own choice of protocol. */
import {
  type Assignment,
  originOf,
  type Protocol,
  parseProtocol,
  type Recording,
} from '@hopwise/pageload-emulator';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';

/** A protocol that every request is forced onto, or what Chromium picks by Alt-Svc. */
export type TruthProtocol = Protocol | 'natural';

/**
 * What a browser is started for. Under an assignment Chromium forces HTTP/3 on the origins that are to have it and
 * speaks no QUIC to the others; whether those use HTTP/1.1 or HTTP/2 is up to what their server offers (ALPN).
 */
export type BrowserProtocol = TruthProtocol | { assignment: Assignment };

export interface TruthBrowserOptions {
  /** Chromium, or a script that starts it with the arguments it is given. */
  executablePath: string;
  protocol: BrowserProtocol;
  /** base64 SHA-256 of the public key of the CA that signed the hosts' certificates. */
  caSpki: string;
  /** Hosts of the page, without port. */
  hosts: string[];
  headed?: boolean;
  /** Further arguments, such as `--host-resolver-rules`. */
  args?: string[];
}

/** One request that was begun before the load event ended. Times are milliseconds after navigationStart. */
export interface LoadedRequest {
  url: string;
  /**
   * `nextHopProtocol`; where Resource Timing has no entry, what the DevTools protocol says of the response. Null when
   * the browser did not say.
   */
  protocol: Protocol | null;
  startMs: number;
  endMs: number;
  /** Response bytes on the wire, headers included; 0 when the browser withheld them. */
  bytes: number;
}

/** A load whose load event came. */
export interface Load {
  ok: true;
  /** navigationStart to loadEventEnd. */
  pltMs: number;
  /** First and largest contentful paint; null when nothing was painted. */
  fcpMs: number | null;
  lcpMs: number | null;
  requests: LoadedRequest[];
  /**
   * Whether the browser named the protocol of every request and each was the forced one. Under
   * `natural` every named protocol will do.
   */
  proved: boolean;
  /** Requests that got no answer, or one of status 400 and above. */
  failed: { url: string; reason: string }[];
  /** Of the measured view; null when it was not asked for. */
  recording: Recording | null;
}

/** A load that did not come to its load event, with the reason in words. */
export interface FailedLoad {
  ok: false;
  /**
   * `unreachable`: no answer for the document, as when UDP is blocked under forced HTTP/3; `timeout`: no load
   * event in time; `browser`: the browser itself failed.
   */
  kind: 'unreachable' | 'timeout' | 'browser';
  reason: string;
}

export interface LoadOptions {
  /** Time to the load event. */
  timeoutMs: number;
  /** Time to the first byte of the document's answer. */
  firstByteTimeoutMs?: number;
  /**
   * `warm`: the page is first loaded once unmeasured in the same fresh context, its connections are closed, and it
   * is then loaded again. `cold` unless given.
   */
  view?: 'cold' | 'warm';
  /** Whether the load is recorded; true unless given. */
  record?: boolean;
  /** Script that every frame runs before its own. */
  initScript?: string;
}

const FIRST_BYTE_TIMEOUT_MS = 9_000;
/** What was begun before the load event and did not hold it up gets this long to end. */
const SETTLE_MS = 3_000;
/** An unused port: forcing QUIC there allows it on the host despite a private CA, and forces nothing else. */
const UNUSED_PORT = 9;

/** Switches of every Chromium that is driven: nothing on the link but the page. */
export const CHROMIUM_ARGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // Chromium's sandbox refuses to run as root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

/** Chromium's switches for a protocol or an assignment. @param hosts those of the page, without port */
export function protocolArgs(protocol: BrowserProtocol, hosts: string[]): string[] {
  if (typeof protocol === 'object') {
    const forced = Object.entries(protocol.assignment).flatMap(([origin, assigned]) => {
      const { hostname, port } = new URL(origin);
      return assigned === 'h3' ? [`${hostname}:${port || 443}`] : [];
    });
    return forced.length === 0
      ? ['--disable-quic']
      : ['--enable-quic', `--origin-to-force-quic-on=${forced.join(',')}`];
  }
  const force = (port: number) =>
    hosts.length === 0
      ? []
      : [`--origin-to-force-quic-on=${hosts.map((host) => `${host}:${port}`).join(',')}`];
  switch (protocol) {
    case 'h1':
      return ['--disable-http2', '--disable-quic'];
    case 'h2':
      return ['--disable-quic'];
    case 'h3':
      return ['--enable-quic', ...force(443)];
    case 'natural':
      return ['--enable-quic', ...force(UNUSED_PORT)];
  }
}

/** Chromium with one choice of protocol. Each load has a cache and connections of its own. */
export class TruthBrowser {
  readonly protocol: BrowserProtocol;
  readonly #browser: Browser;

  private constructor(protocol: BrowserProtocol, browser: Browser) {
    this.protocol = protocol;
    this.#browser = browser;
  }

  /** @throws when Chromium does not start. */
  static async launch(options: TruthBrowserOptions): Promise<TruthBrowser> {
    const browser = await chromium.launch({
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
    return new TruthBrowser(options.protocol, browser);
  }

  /** Version of the browser, as `156.0.…`. */
  get version(): string {
    return this.#browser.version();
  }

  /** Processes of the browser, those that it has started included. */
  pids(): number[] {
    return [];
  }

  /** Loads `url` once. Never throws: what goes wrong is the value. */
  async load(url: string, options: LoadOptions): Promise<Load | FailedLoad> {
    let context: BrowserContext | undefined;
    try {
      context = await this.#browser.newContext();
      return await loadInto(await context.newPage(), url, this.protocol, options);
    } catch (error) {
      return { ok: false, kind: 'browser', reason: firstLine(error) };
    } finally {
      // A browser that has gone has no context to close.
      await context?.close().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] as string;

async function loadInto(
  page: Page,
  url: string,
  protocol: BrowserProtocol,
  options: LoadOptions,
): Promise<Load | FailedLoad> {
  const seen = watchRequests(page);
  await page.addInitScript(() => performance.setResourceTimingBufferSize(10_000));
  const started = Date.now();
  const firstByteMs = Math.min(options.firstByteTimeoutMs ?? FIRST_BYTE_TIMEOUT_MS, options.timeoutMs);
  try {
    await page.goto(url, { waitUntil: 'commit', timeout: firstByteMs });
  } catch (error) {
    return {
      ok: false,
      kind: 'unreachable',
      reason: `no answer for ${url} in ${firstByteMs} ms: ${firstLine(error)}`,
    };
  }
  try {
    const left = Math.max(1, options.timeoutMs - (Date.now() - started));
    await page.waitForFunction(loadEventEnded, undefined, { timeout: left, polling: 50 });
  } catch (error) {
    const pending = [...seen.values()].filter(({ ended }) => !ended).length;
    return page.isClosed() || !/timeout/i.test(firstLine(error))
      ? { ok: false, kind: 'browser', reason: firstLine(error) }
      : {
          ok: false,
          kind: 'timeout',
          reason: `no load event in ${options.timeoutMs} ms, ${pending} requests open`,
        };
  }
  const timing = await page.evaluate(readPageTiming);
  const loadEnd = timing.timeOrigin + timing.pltMs;
  await settle(seen, loadEnd);

  const frames: FrameTiming[] = [];
  // A frame that has been removed or crashed has no entries to give; its requests are then unproved.
  for (const frame of page.frames()) frames.push(...(await frame.evaluate(readFrameTiming).catch(() => [])));
  const requests: LoadedRequest[] = [];
  const failed: Load['failed'] = [];
  const entries = groupByUrl(frames);
  for (const [request, { startedAt, endedAt, failure }] of seen) {
    if (startedAt > loadEnd) continue;
    const address = withoutFragment(request.url());
    if (failure !== null) failed.push({ url: address, reason: failure });
    const entry = entries.get(address)?.shift();
    // Resource Timing has no entry for a redirect's own answer, nor for what a stylesheet of another
    // origin asks for. There the network stack's word stands.
    const named = request.redirectedTo() === null ? parseProtocol(entry?.nextHopProtocol) : null;
    requests.push({
      url: address,
      protocol: named ?? (await answeredWith(request)),
      startMs: (entry ? entry.startedAt : startedAt) - timing.timeOrigin,
      endMs: (entry ? entry.endedAt : endedAt) - timing.timeOrigin,
      bytes: entry ? entry.bytes : await transferredBytes(request),
    });
  }
  requests.sort((a, b) => a.startMs - b.startMs);
  return {
    ok: true,
    pltMs: timing.pltMs,
    fcpMs: timing.fcpMs,
    lcpMs: timing.lcpMs,
    requests,
    proved:
      requests.length > 0 &&
      requests.every((request) => request.protocol !== null && isRight(request, protocol)),
    failed,
    recording: null,
  };
}

/** Whether a request was on the protocol that its browser was started for. */
function isRight(request: LoadedRequest, wanted: BrowserProtocol): boolean {
  if (wanted === 'natural') return true;
  if (typeof wanted === 'string') return request.protocol === wanted;
  const origin = originOf(request.url);
  return origin !== null && wanted.assignment[origin] === request.protocol;
}

interface SeenRequest {
  /** Unix time, milliseconds. */
  startedAt: number;
  endedAt: number;
  ended: boolean;
  failure: string | null;
}

function watchRequests(page: Page): Map<Request, SeenRequest> {
  const seen = new Map<Request, SeenRequest>();
  page.on('request', (request) => {
    if (!/^https?:/.test(request.url())) return;
    const now = Date.now();
    seen.set(request, { startedAt: now, endedAt: now, ended: false, failure: null });
  });
  page.on('response', (response) => {
    const entry = seen.get(response.request());
    if (entry === undefined) return;
    // The browser's own clock, where it gives one.
    const { startTime, responseStart } = response.request().timing();
    if (startTime > 0) entry.startedAt = startTime;
    entry.endedAt = entry.startedAt + Math.max(0, responseStart);
    if (response.status() >= 400) entry.failure = `status ${response.status()}`;
    if (response.status() >= 300 && response.status() < 400) entry.ended = true;
  });
  page.on('requestfinished', (request) => {
    const entry = seen.get(request);
    if (entry === undefined) return;
    entry.ended = true;
    const { responseEnd } = request.timing();
    if (responseEnd > 0) entry.endedAt = entry.startedAt + responseEnd;
  });
  page.on('requestfailed', (request) => {
    const entry = seen.get(request);
    if (entry === undefined) return;
    entry.ended = true;
    entry.failure = request.failure()?.errorText ?? 'failed';
  });
  return seen;
}

async function settle(seen: Map<Request, SeenRequest>, loadEnd: number): Promise<void> {
  const until = Date.now() + SETTLE_MS;
  while (
    Date.now() < until &&
    [...seen.values()].some(({ ended, startedAt }) => !ended && startedAt <= loadEnd)
  ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function answeredWith(request: Request): Promise<Protocol | null> {
  const response = await request.response().catch(() => null);
  return response === null ? null : parseProtocol(await response.httpVersion().catch(() => null));
}

async function transferredBytes(request: Request): Promise<number> {
  const sizes = await request.sizes().catch(() => null);
  return sizes === null ? 0 : sizes.responseHeadersSize + sizes.responseBodySize;
}

const withoutFragment = (url: string): string => url.split('#')[0] as string;

interface FrameTiming {
  url: string;
  nextHopProtocol: string;
  /** Unix time, milliseconds. */
  startedAt: number;
  endedAt: number;
  bytes: number;
}

function groupByUrl(entries: FrameTiming[]): Map<string, FrameTiming[]> {
  const groups = new Map<string, FrameTiming[]>();
  for (const entry of entries) {
    const url = withoutFragment(entry.url);
    groups.set(url, [...(groups.get(url) ?? []), entry]);
  }
  // A framed document has two entries: one in its own frame, which always names the protocol, and
  // one in the parent's.
  for (const group of groups.values()) {
    group.sort((a, b) => Number(b.nextHopProtocol !== '') - Number(a.nextHopProtocol !== ''));
  }
  return groups;
}

// The functions below run in the page.

function loadEventEnded(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation !== undefined && navigation.loadEventEnd > 0;
}

function readPageTiming(): { timeOrigin: number; pltMs: number; fcpMs: number | null; lcpMs: number | null } {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const lcp = new PerformanceObserver(() => undefined);
  lcp.observe({ type: 'largest-contentful-paint', buffered: true });
  const paints = lcp.takeRecords();
  lcp.disconnect();
  return {
    timeOrigin: performance.timeOrigin,
    pltMs: navigation?.loadEventEnd ?? 0,
    fcpMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
    lcpMs: paints.at(-1)?.startTime ?? null,
  };
}

function readFrameTiming(): FrameTiming[] {
  const entries = [
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource'),
  ] as PerformanceResourceTiming[];
  return entries
    .filter((entry) => /^https?:/.test(entry.name))
    .map((entry) => ({
      url: entry.name,
      nextHopProtocol: entry.nextHopProtocol,
      startedAt: performance.timeOrigin + entry.startTime,
      endedAt: performance.timeOrigin + entry.responseEnd,
      bytes: entry.transferSize,
    }));
}
