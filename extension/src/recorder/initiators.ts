import { groupBy } from '@hopwise/contract';
import type { Initiator } from '@hopwise/pageload-emulator';
import type { FrameReport, JoinedRequest } from './joined-request.ts';
import { withoutFragment } from './url-text.ts';

/** Maximum time between the arrival of a response and a request that it causes, when the clocks show them in reverse. */
const START_TOLERANCE_MS = 5;

/** Longest time from the arrival of a fetch to the callbacks that wait for it. */
const CALLBACK_DELAY_MS = 20;

/**
 * Longest time from the end of an inline script to its images' requests, which a microtask starts (HTML section 4.8.4.3.5). Of
 * an external script the load event follows them.
 */
const INLINE_IMAGE_DELAY_MS = 8;

/** Longest time from the end of a script to the handlers of its `load` event. */
const LOAD_HANDLER_DELAY_MS = 2;

/**
 * Finds the initiator of each request from five sources: redirects, what made the element that requested it, the `Referer` (of
 * requests by a stylesheet or a module it is that file's own URL: Fetch section 2.2.5, Referrer Policy section 8.3), Resource
 * Timing's `initiatorType`, and the times at which scripts ran. The last is inference: no source names the script that fetched.
 *
 * @param requests in order of start, the page's own first
 * @returns one for each request, `requestId` an index into `requests`
 */
export function findInitiators(requests: JoinedRequest[]): Initiator[] {
  const finder = new InitiatorFinder(requests);
  const ids = new Map(requests.map((request, id) => [request, id]));
  return requests.map((request) => {
    const { kind, from, source } = finder.findInitiator(request);
    const requestId = from ? ids.get(from)! : null;
    return { kind, requestId, source: from || kind === 'navigation' ? source : 'inferred' };
  });
}

interface FoundInitiator {
  kind: Initiator['kind'];
  from: JoinedRequest | null;
  source: Initiator['source'];
}

class InitiatorFinder {
  readonly #requests: JoinedRequest[];
  readonly #byUrl: Map<string, JoinedRequest[]>;
  readonly #scriptsByReferrer: Map<string, JoinedRequest[]>;
  /** Documents of each frame, in order of start; a frame may have held several. */
  readonly #documents: Map<number, JoinedRequest[]>;
  readonly #topOrigin: number;
  readonly #found = new Map<JoinedRequest, FoundInitiator>();
  /** Cache: origins are looked up for each pair of a stylesheet and a request. */
  readonly #origins = new Map<string, string>();

  constructor(requests: JoinedRequest[]) {
    this.#requests = requests;
    this.#byUrl = groupBy(requests, urlOf);
    const scripts = requests.filter(({ type, observed }) => type === 'script' && observed?.referrer);
    this.#scriptsByReferrer = groupBy(scripts, ({ observed }) => withoutFragment(observed!.referrer!));
    const documents = requests.filter(
      ({ type, observed, documentOf }) =>
        (type === 'document' || type === 'iframe') &&
        (observed === null ? documentOf !== null : !observed.redirected),
    );
    this.#documents = groupBy(documents, ({ observed, documentOf }) => (observed ?? documentOf)!.frameId);
    this.#topOrigin =
      requests.find(({ documentOf }) => documentOf?.frameId === 0)?.documentOf?.timeOrigin ?? 0;
  }

  findInitiator(request: JoinedRequest): FoundInitiator {
    const found = this.#findInitiator(request);
    this.#found.set(request, found);
    return found;
  }

  #findInitiator(request: JoinedRequest): FoundInitiator {
    if (request.redirectedFrom) {
      return { kind: 'redirect', from: request.redirectedFrom, source: 'recorded' };
    }
    if (request.type === 'document') return { kind: 'navigation', from: null, source: 'recorded' };
    const document = this.#findDocument(request);
    return (
      this.#fromMaker(request, document) ??
      findPreload(request, document) ??
      this.#fromReferrer(request, document) ??
      this.#fromScriptRuns(request, document) ??
      this.#fromType(request, document)
    );
  }

  /** Finds the initiator that the frame has observed. */
  #fromMaker(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator | null {
    const { maker } = request;
    if (maker?.by === 'parser' && request.type !== 'other' && !isPreload(request)) {
      return { kind: 'parser', from: document, source: 'recorded' };
    }
    if (maker?.by !== 'script' || maker.scriptUrl === null) return null;
    if (maker.scriptUrl === '') return { kind: 'script', from: document, source: 'recorded' };
    const script = this.#findArrived(maker.scriptUrl, request);
    if (!script) return null;
    if (script.type === 'style') return { kind: 'style', from: script, source: 'recorded' };
    const from = this.#findLastImport(script, request);
    return { kind: 'script', from, source: from === script ? 'recorded' : 'inferred' };
  }

  /** Finds the script that made a request; null for a request that the document's markup may have caused. */
  #fromScriptRuns(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator | null {
    const { frame } = request;
    const startMs = frame ? this.#toFrameTime(frame, request.startMs) : 0;
    const running = frame && this.#findRunning(request, frame, startMs, document);
    const parsed = frame !== null && startMs > parsedAtMs(frame);
    if (!isMadeByScript(request) && !(parsed && running && !request.maker)) return null;
    const script =
      running ??
      (frame && (this.#findCallback(request, frame, startMs) ?? this.#findLastRun(request, frame)));
    return { kind: 'script', from: script ?? document, source: 'inferred' };
  }

  /** Finds the script that was running when the request started: of the runs around that time the last to begin. */
  #findRunning(request: JoinedRequest, frame: FrameReport, startMs: number, document: JoinedRequest | null) {
    const delayMs = request.type === 'image' ? INLINE_IMAGE_DELAY_MS : 0;
    const runs = frame.scriptRuns.filter(
      (run) => run.startMs <= startMs && startMs <= run.endMs + (run.url === '' ? delayMs : 0),
    );
    for (const run of runs.toSorted((a, b) => b.startMs - a.startMs || a.endMs - b.endMs)) {
      if (run.deferred && startMs < parsedAtMs(frame)) continue;
      const script = run.url === '' ? document : this.#findArrived(run.url, request);
      if (script) return script === document ? script : this.#findLastImport(script, request);
    }
    return null;
  }

  /** Finds the script that waited for what has just ended: a fetch, or another script's run (`onload`). */
  #findCallback(request: JoinedRequest, frame: FrameReport, startMs: number): JoinedRequest | null {
    const isAwaited = (endMs: number, delayMs: number) => endMs <= startMs && startMs - endMs <= delayMs;
    const run = frame.scriptRuns.findLast(
      ({ endMs, inserted }) => inserted && isAwaited(endMs, LOAD_HANDLER_DELAY_MS),
    );
    const script = run && this.#findArrived(run.url, request);
    const fetched = this.#requests.filter(
      (one) =>
        one.type === 'fetch' &&
        one.frame === frame &&
        isAwaited(this.#toFrameTime(frame, one.endMs), CALLBACK_DELAY_MS),
    );
    const awaited = script ?? findLastArrived(fetched);
    const found = awaited && this.#found.get(awaited);
    return found?.kind === 'script' ? found.from : null;
  }

  /** Finds the script that ended last before the request started, for requests of its callbacks. */
  #findLastRun(request: JoinedRequest, frame: FrameReport): JoinedRequest | null {
    const startMs = this.#toFrameTime(frame, request.startMs);
    const run = frame.scriptRuns.findLast(({ endMs, url }) => url !== '' && endMs <= startMs);
    return run ? this.#findArrived(run.url, request) : null;
  }

  /** Finds the last to arrive of a module and its imports, directly or through others: it runs when all have arrived. */
  #findLastImport(module: JoinedRequest, request: JoinedRequest): JoinedRequest {
    const graph = new Set([module]);
    for (const importing of graph) {
      for (const imported of this.#scriptsByReferrer.get(urlOf(importing)) ?? []) {
        if (imported.endMs <= request.startMs) graph.add(imported);
      }
    }
    return findLastArrived([...graph])!;
  }

  #fromReferrer(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator | null {
    const referrer = request.observed?.referrer ? withoutFragment(request.observed.referrer) : null;
    const referring = referrer ? this.#findArrived(referrer, request) : null;
    if (referring?.type === 'style' || referring?.type === 'script') {
      return { kind: referring.type, from: referring, source: 'recorded' };
    }
    if (request.entry?.initiatorType !== 'css' && request.type !== 'font') return null;
    // Across origins only the stylesheet's origin is sent, which may look like the URL of a document at the root.
    const isOriginAlone =
      referrer === `${this.#originOf(referrer ?? '')}/` && !this.#isSameOrigin(request, referrer);
    // A style element in the markup sends the document's own URL.
    if (referrer && document && referrer === urlOf(document) && !isOriginAlone) {
      return { kind: 'style', from: document, source: 'recorded' };
    }
    const sheets = this.#requests.filter(
      (one) =>
        one.type === 'style' &&
        one.frame === request.frame &&
        one.endMs <= request.startMs + START_TOLERANCE_MS &&
        (!referrer || this.#originOf(urlOf(one)) === this.#originOf(referrer)),
    );
    return { kind: 'style', from: findLastArrived(sheets) ?? document, source: 'inferred' };
  }

  #fromType(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator {
    if (request.type === 'other' && request.observed)
      return { kind: 'other', from: document, source: 'inferred' };
    return { kind: 'parser', from: document, source: 'inferred' };
  }

  /** Finds the response of `url` that was complete when `request` started. */
  #findArrived(url: string, request: JoinedRequest): JoinedRequest | null {
    const arrived = this.#byUrl
      .get(url)
      ?.filter((one) => one !== request && one.endMs <= request.startMs + START_TOLERANCE_MS);
    return arrived ? findLastArrived(arrived) : null;
  }

  /** Finds the document that made the request; the page's own when that frame was not observed. */
  #findDocument(request: JoinedRequest): JoinedRequest | null {
    const { observed, frame, type } = request;
    const frameId = observed
      ? type === 'iframe'
        ? observed.parentFrameId
        : observed.frameId
      : frame?.frameId;
    const documents = this.#documents.get(frameId ?? 0) ?? this.#documents.get(0) ?? [];
    return documents.findLast((document) => document.startMs <= request.startMs) ?? documents[0] ?? null;
  }

  #isSameOrigin(request: JoinedRequest, url: string): boolean {
    return this.#originOf(urlOf(request)) === this.#originOf(url);
  }

  #originOf(url: string): string {
    let origin = this.#origins.get(url);
    if (origin === undefined) {
      origin = URL.canParse(url) ? new URL(url).origin : '';
      this.#origins.set(url, origin);
    }
    return origin;
  }

  #toFrameTime({ timeOrigin }: FrameReport, pageMs: number): number {
    return pageMs - (timeOrigin - this.#topOrigin);
  }
}

/** Whether only a script can have made the request: markup neither fetches nor creates elements as scripts do. */
function isMadeByScript(request: JoinedRequest): boolean {
  if (request.type === 'fetch' || request.type === 'beacon' || request.maker?.by === 'script') return true;
  const runs = request.type === 'script' ? request.frame?.scriptRuns : undefined;
  return runs?.some(({ url, inserted }) => inserted && url === urlOf(request)) ?? false;
}

/** When the parser ended, after which markup starts only lazy requests: milliseconds after the frame's time origin. */
function parsedAtMs({ navigation }: FrameReport): number {
  return navigation?.domInteractive || Number.POSITIVE_INFINITY;
}

/** Recognises `<link rel=preload>` and early hints: links that are not stylesheets. */
function isPreload({ entry, type }: Pick<JoinedRequest, 'entry' | 'type'>): boolean {
  return entry?.initiatorType === 'early-hints' || (entry?.initiatorType === 'link' && type !== 'style');
}

function findPreload(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator | null {
  return isPreload(request) ? { kind: 'preload', from: document, source: 'recorded' } : null;
}

function findLastArrived(requests: JoinedRequest[]): JoinedRequest | null {
  return requests.reduce<JoinedRequest | null>((a, b) => (a && a.endMs >= b.endMs ? a : b), null);
}

/** URL before redirects, which is what script calls and Resource Timing contain. */
function urlOf(request: JoinedRequest): string {
  return withoutFragment(request.observed?.url ?? request.entry?.name ?? '');
}
