/**
 * A page load as the DevTools protocol reports it, turned into a recording. Every request of the page, of its frames
 * in other processes and of its workers is followed, with the network stack's own times.
 */
import {
  type InitiatorKind,
  originOf,
  parseProtocol,
  type RecordedRequest,
  type Recording,
  type RequestPhases,
  type ResourceType,
} from '@hopwise/pageload-emulator';
import type { Protocol as Cdp } from 'devtools-protocol';
import type { CDPSession } from 'playwright-core';

type Send = (method: string, params?: object) => void;

/** One request, or one hop of a chain of redirects. Times are milliseconds of the browser's monotonic clock. */
interface Hop {
  url: string;
  method: string;
  type: Cdp.Network.ResourceType;
  frameId: string | undefined;
  wantedAt: number;
  initiator: Cdp.Network.Initiator;
  isPreload: boolean;
  renderBlocking: boolean | null;
  /** In order of time; the first is the initial one. */
  priorities: { at: number; priority: Cdp.Network.ResourcePriority }[];
  redirectedFrom: Hop | null;
  response: Cdp.Network.Response | null;
  servedFromMemory: boolean;
  /** Null as long as the request is open. */
  endedAt: number | null;
  /** On the wire, with headers; null as long as the request is open. */
  encodedBytes: number | null;
  decodedBytes: number;
  failure: string | null;
}

/** What the page itself knows of its load: milliseconds after navigationStart. */
export interface PageTiming {
  /** Unix time of navigationStart, milliseconds. */
  timeOrigin: number;
  /** URL of the document, with fragment. */
  url: string;
  pltMs: number;
  domContentLoadedMs: number;
  fcpMs: number | null;
  lcpMs: number | null;
}

/** A load's requests that began before its load event ended, and those of them that failed. */
export interface ObservedLoad {
  recording: Recording;
  failed: { url: string; reason: string }[];
}

/** As deep as DevTools itself asks for: promises and timers between a script and its request. */
const ASYNC_STACK_DEPTH = 32;

/** Follows the requests of one page from `follow` on. */
export class LoadObserver {
  /** By request id; each with its hops in order. */
  readonly #chains = new Map<string, Hop[]>();
  #session: CDPSession | undefined;
  #commands = 0;

  /** @throws when the page has gone. */
  static async follow(session: CDPSession): Promise<LoadObserver> {
    const observer = new LoadObserver();
    observer.#session = session;
    const receive = observer.#target((method, params) => {
      // A target that has gone has nothing more to report.
      (session as LooseSession).send(method, params).catch(() => undefined);
    });
    for (const method of FOLLOWED) (session as LooseSession).on(method, (params) => receive(method, params));
    await Promise.all(SET_UP.map(([method, params]) => (session as LooseSession).send(method, params)));
    return observer;
  }

  /** How many requests that began by `at` are still open. @param at monotonic milliseconds */
  open(at = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (const chain of this.#chains.values()) {
      const last = chain.at(-1)!;
      if (last.endedAt === null && last.wantedAt <= at && originOf(last.url) !== null) count++;
    }
    return count;
  }

  /** navigationStart of the page's document, monotonic milliseconds. */
  async navigationStart(): Promise<number> {
    const session = this.#session!;
    await session.send('Performance.enable');
    const { metrics } = await session.send('Performance.getMetrics');
    await session.send('Performance.disable');
    const start = metrics.find(({ name }) => name === 'NavigationStart')?.value ?? 0;
    if (start <= 0) throw new Error('the browser does not say when the navigation started');
    return start * 1000;
  }

  /**
   * What happened before the load event ended.
   *
   * @param navigationStart monotonic milliseconds
   * @param browser name and version
   */
  observed(timing: PageTiming, navigationStart: number, browser: string): ObservedLoad {
    const hops = [...this.#chains.values()]
      .flat()
      .filter(
        ({ url, wantedAt }) =>
          originOf(url) !== null &&
          wantedAt >= navigationStart - EARLY_MS &&
          wantedAt <= navigationStart + timing.pltMs,
      )
      .sort((a, b) => a.wantedAt - b.wantedAt);
    return {
      recording: recordingOf(withoutReuse(hops), timing, navigationStart, browser),
      failed: hops.flatMap((hop) => {
        const reason = failureOf(hop);
        return reason === null ? [] : [{ url: withoutFragment(hop.url), reason }];
      }),
    };
  }

  /** @returns what takes the events of a target that `send` reaches. */
  #target(send: Send): (method: string, params: unknown) => void {
    const children = new Map<string, (method: string, params: unknown) => void>();
    return (method, params) => {
      if (method === 'Target.attachedToTarget') {
        const { sessionId } = params as Cdp.Target.AttachedToTargetEvent;
        const sendChild: Send = (childMethod, childParams = {}) =>
          send('Target.sendMessageToTarget', {
            sessionId,
            message: JSON.stringify({ id: ++this.#commands, method: childMethod, params: childParams }),
          });
        children.set(sessionId, this.#target(sendChild));
        for (const [childMethod, childParams] of SET_UP) sendChild(childMethod, childParams);
        sendChild('Runtime.runIfWaitingForDebugger');
      } else if (method === 'Target.receivedMessageFromTarget') {
        const { sessionId, message } = params as Cdp.Target.ReceivedMessageFromTargetEvent;
        const event = JSON.parse(message) as { method?: string; params?: unknown };
        if (event.method !== undefined) children.get(sessionId)?.(event.method, event.params);
      } else {
        this.receive(method, params);
      }
    };
  }

  /** Takes one event of the Network domain, whichever target it is from: request ids are the browser's. */
  receive(method: string, params: unknown): void {
    switch (method) {
      case 'Network.requestWillBeSent':
        this.#sent(params as Cdp.Network.RequestWillBeSentEvent);
        return;
      case 'Network.resourceChangedPriority': {
        const { requestId, newPriority, timestamp } = params as Cdp.Network.ResourceChangedPriorityEvent;
        this.#last(requestId)?.priorities.push({ at: timestamp * 1000, priority: newPriority });
        return;
      }
      case 'Network.requestServedFromCache': {
        const hop = this.#last((params as Cdp.Network.RequestServedFromCacheEvent).requestId);
        if (hop) hop.servedFromMemory = true;
        return;
      }
      case 'Network.responseReceived': {
        const { requestId, response } = params as Cdp.Network.ResponseReceivedEvent;
        const hop = this.#last(requestId);
        if (hop) hop.response = response;
        return;
      }
      case 'Network.dataReceived': {
        const { requestId, dataLength } = params as Cdp.Network.DataReceivedEvent;
        const hop = this.#last(requestId);
        if (hop) hop.decodedBytes += dataLength;
        return;
      }
      case 'Network.loadingFinished': {
        const { requestId, timestamp, encodedDataLength } = params as Cdp.Network.LoadingFinishedEvent;
        const hop = this.#last(requestId);
        if (!hop) return;
        hop.endedAt = timestamp * 1000;
        hop.encodedBytes = Math.max(0, encodedDataLength);
        return;
      }
      case 'Network.loadingFailed': {
        const { requestId, timestamp, errorText, blockedReason, corsErrorStatus } =
          params as Cdp.Network.LoadingFailedEvent;
        const hop = this.#last(requestId);
        if (!hop) return;
        hop.endedAt = timestamp * 1000;
        const why = blockedReason ?? corsErrorStatus?.corsError;
        hop.failure = [errorText || 'failed', ...(why ? [`(${why})`] : [])].join(' ');
        return;
      }
    }
  }

  #last(requestId: string): Hop | undefined {
    return this.#chains.get(requestId)?.at(-1);
  }

  #sent(event: Cdp.Network.RequestWillBeSentEvent): void {
    const { requestId, request, redirectResponse, timestamp } = event;
    const chain = this.#chains.get(requestId) ?? [];
    const before = chain.at(-1) ?? null;
    if (before && redirectResponse) {
      before.response = redirectResponse;
      before.endedAt = answeredAt(redirectResponse) ?? timestamp * 1000;
      before.encodedBytes = Math.max(0, redirectResponse.encodedDataLength);
    }
    chain.push({
      url: request.url,
      method: request.method,
      type: event.type ?? 'Other',
      frameId: event.frameId,
      wantedAt: timestamp * 1000,
      initiator: event.initiator,
      isPreload: request.isLinkPreload ?? false,
      renderBlocking: blocksRendering(event.renderBlockingBehavior),
      priorities: [{ at: 0, priority: request.initialPriority }],
      redirectedFrom: redirectResponse ? before : null,
      response: null,
      servedFromMemory: false,
      endedAt: null,
      encodedBytes: null,
      decodedBytes: 0,
      failure: null,
    });
    this.#chains.set(requestId, chain);
  }
}

/** Playwright's types know the events and commands one by one. */
interface LooseSession {
  on(method: string, listener: (params: unknown) => void): void;
  send(method: string, params?: object): Promise<unknown>;
}

const FOLLOWED = [
  'Target.attachedToTarget',
  'Target.receivedMessageFromTarget',
  'Network.requestWillBeSent',
  'Network.resourceChangedPriority',
  'Network.requestServedFromCache',
  'Network.responseReceived',
  'Network.dataReceived',
  'Network.loadingFinished',
  'Network.loadingFailed',
];

const SET_UP: [string, object][] = [
  // Bodies are of no use here, and keeping them costs the page's process memory.
  ['Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 }],
  // Frames in other processes and workers wait until they are followed; what they report comes through their parent's session.
  ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: false }],
  // Without it there are no stacks of the promises and timers between a script and its request.
  ['Debugger.enable', {}],
  ['Debugger.setAsyncCallStackDepth', { maxDepth: ASYNC_STACK_DEPTH }],
  // A page's `debugger` statement would stop it.
  ['Debugger.setSkipAllPauses', { skip: true }],
];
/** The browser's process stamps a navigation's request, the page's process its start. */
const EARLY_MS = 1;

const withoutFragment = (url: string): string => url.split('#')[0] as string;

function blocksRendering(behavior: string | undefined): boolean | null {
  if (behavior === undefined) return null;
  return behavior === 'Blocking' || behavior === 'InBodyParserBlocking';
}

/** When the response's headers were there, monotonic milliseconds. */
function answeredAt({ timing }: Cdp.Network.Response): number | null {
  return timing ? timing.requestTime * 1000 + timing.receiveHeadersEnd : null;
}

function failureOf(hop: Hop): string | null {
  if (hop.failure !== null) return hop.failure;
  return hop.response && hop.response.status >= 400 ? `status ${hop.response.status}` : null;
}

/** Whether nothing of the answer came over the network; a revalidated one (304) did in part. */
function isCached(hop: Hop): boolean {
  if (hop.servedFromMemory) return true;
  const { response } = hop;
  const kept = response?.fromDiskCache || response?.fromPrefetchCache || response?.fromServiceWorker;
  return Boolean(kept) && (hop.encodedBytes ?? 0) === 0;
}

/** Without what the page used again from memory after having fetched it in this load. @param hops in order of time */
function withoutReuse(hops: readonly Hop[]): Hop[] {
  const fetched = new Set<string>();
  return hops.filter((hop) => {
    if (hop.servedFromMemory) return !fetched.has(hop.url);
    fetched.add(hop.url);
    return true;
  });
}

function recordingOf(
  hops: readonly Hop[],
  timing: PageTiming,
  navigationStart: number,
  browser: string,
): Recording {
  const mainFrame = hops.find(({ type }) => type === 'Document')?.frameId;
  const ids = new Map(hops.map((hop, id) => [hop, id]));
  const byUrl = new Map<string, Hop[]>();
  for (const hop of hops) {
    const url = withoutFragment(hop.url);
    byUrl.set(url, [...(byUrl.get(url) ?? []), hop]);
  }
  return {
    format: 'hopwise-recording',
    version: 1,
    url: withoutFragment(timing.url),
    recordedAt: new Date(timing.timeOrigin).toISOString(),
    browser,
    pltMs: timing.pltMs,
    domContentLoadedMs: timing.domContentLoadedMs,
    firstContentfulPaintMs: timing.fcpMs,
    largestContentfulPaintMs: timing.lcpMs,
    requests: hops.map((hop, id) => {
      const fromCache = isCached(hop);
      const startMs = Math.max(0, hop.wantedAt - navigationStart);
      const lastKnownAt = hop.endedAt ?? (hop.response && answeredAt(hop.response)) ?? hop.wantedAt;
      const isNavigation = hop.type === 'Document' && hop.frameId === mainFrame;
      return {
        id,
        url: withoutFragment(hop.url),
        method: hop.method,
        type: isNavigation ? 'document' : TYPES[hop.type],
        status: hop.failure === null ? (hop.response?.status ?? 0) : 0,
        protocol: fromCache ? null : parseProtocol(hop.response?.protocol),
        startMs,
        endMs: Math.max(startMs, lastKnownAt - navigationStart),
        phases: fromCache ? NO_PHASES : phasesOf(hop.response, navigationStart),
        ...sizesOf(hop, fromCache),
        initiator: initiatorOf(hop, isNavigation, ids, byUrl),
        renderBlocking: hop.renderBlocking,
        fromCache,
        connectionId: fromCache ? null : connectionOf(hop.response),
        remoteIp: hop.response?.remoteIPAddress?.replace(/^\[|\]$/g, '') || null,
        urgency: urgencyOf(hop),
        offersH3: hop.response && offersH3(hop.response),
      };
    }),
  };
}

/** `Other` is the page's icon and what the browser asks for by itself. */
const TYPES: Record<Cdp.Network.ResourceType, ResourceType> = {
  Document: 'iframe',
  Stylesheet: 'style',
  Script: 'script',
  Font: 'font',
  Image: 'image',
  Media: 'media',
  TextTrack: 'media',
  XHR: 'fetch',
  Fetch: 'fetch',
  Preflight: 'fetch',
  EventSource: 'fetch',
  WebSocket: 'fetch',
  Ping: 'beacon',
  CSPViolationReport: 'beacon',
  Prefetch: 'other',
  Manifest: 'other',
  SignedExchange: 'other',
  FedCM: 'other',
  Other: 'other',
};

const NO_PHASES: RequestPhases = {
  dnsStartMs: null,
  dnsEndMs: null,
  connectStartMs: null,
  secureStartMs: null,
  connectEndMs: null,
  requestStartMs: null,
  responseStartMs: null,
};

function phasesOf(response: Cdp.Network.Response | null, navigationStart: number): RequestPhases {
  const timing = response?.timing;
  if (!timing) return NO_PHASES;
  const base = timing.requestTime * 1000 - navigationStart;
  /** −1 marks a phase that did not take place. */
  const at = (relativeMs: number) => (relativeMs < 0 ? null : base + relativeMs);
  return {
    dnsStartMs: at(timing.dnsStart),
    dnsEndMs: at(timing.dnsEnd),
    connectStartMs: at(timing.connectStart),
    secureStartMs: at(timing.sslStart),
    connectEndMs: at(timing.connectEnd),
    requestStartMs: at(timing.sendStart),
    responseStartMs: at(timing.receiveHeadersStart ?? timing.receiveHeadersEnd),
  };
}

function sizesOf(
  hop: Hop,
  fromCache: boolean,
): Pick<RecordedRequest, 'transferBytes' | 'bodyBytes' | 'decodedBytes'> {
  if (fromCache) return { transferBytes: 0, bodyBytes: 0, decodedBytes: hop.decodedBytes };
  const { response, encodedBytes } = hop;
  if (response === null || encodedBytes === null) {
    return { transferBytes: null, bodyBytes: null, decodedBytes: null };
  }
  // When the response is reported, only its headers have come.
  const bodyBytes = Math.max(0, encodedBytes - Math.max(0, response.encodedDataLength));
  return { transferBytes: encodedBytes, bodyBytes, decodedBytes: hop.decodedBytes };
}

function connectionOf(response: Cdp.Network.Response | null): string | null {
  return response && response.connectionId > 0 ? String(response.connectionId) : null;
}

/** RFC 9218 urgency as Chromium puts it in the `Priority` header (net/http: the distance from its highest priority). */
const URGENCY: Record<Cdp.Network.ResourcePriority, number> = {
  VeryHigh: 0,
  High: 1,
  Medium: 2,
  Low: 3,
  VeryLow: 4,
};

/** Of the priority that the request was sent with. */
function urgencyOf(hop: Hop): number {
  const timing = hop.response?.timing;
  const sentAt = timing ? timing.requestTime * 1000 + timing.sendStart : Number.POSITIVE_INFINITY;
  return URGENCY[hop.priorities.findLast(({ at }) => at <= sentAt)!.priority];
}

function offersH3({ headers }: Cdp.Network.Response): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'alt-svc' && /\bh3\b/.test(value),
  );
}

// Initiators

const KINDS: Record<Cdp.Network.Initiator['type'], InitiatorKind> = {
  parser: 'parser',
  script: 'script',
  preload: 'preload',
  SignedExchange: 'parser',
  preflight: 'script',
  FedCM: 'other',
  other: 'other',
};

function initiatorOf(
  hop: Hop,
  isNavigation: boolean,
  ids: ReadonlyMap<Hop, number>,
  byUrl: ReadonlyMap<string, Hop[]>,
): RecordedRequest['initiator'] {
  if (hop.redirectedFrom !== null) {
    return { kind: 'redirect', requestId: ids.get(hop.redirectedFrom) ?? null, source: 'recorded' };
  }
  if (isNavigation) return { kind: 'navigation', requestId: null, source: 'recorded' };
  const askers = [...urlsOf(hop.initiator)].flatMap((url) => {
    const begun = byUrl.get(withoutFragment(url)) ?? [];
    return begun.findLast((asker) => asker !== hop && asker.wantedAt <= hop.wantedAt) ?? [];
  });
  // Of the scripts on a stack, the one that arrived last held the request up.
  const asker = askers.reduce<Hop | null>(
    (last, next) => (last === null || endOf(next) > endOf(last) ? next : last),
    null,
  );
  const kind = hop.isPreload ? 'preload' : KINDS[hop.initiator.type];
  return {
    kind: kind === 'parser' && asker?.type === 'Stylesheet' ? 'style' : kind,
    requestId: asker === null ? null : (ids.get(asker) ?? null),
    source: asker === null || kind === 'other' ? 'inferred' : 'recorded',
  };
}

const endOf = ({ endedAt }: Hop): number => endedAt ?? Number.POSITIVE_INFINITY;

/** URLs of an initiator and of its stack with the stacks that led to that one, innermost first. */
function urlsOf({ url, stack }: Cdp.Network.Initiator): Set<string> {
  const urls = new Set<string>();
  if (url) urls.add(url);
  for (let part = stack; part; part = part.parent) {
    for (const frame of part.callFrames) if (frame.url) urls.add(frame.url);
  }
  return urls;
}
