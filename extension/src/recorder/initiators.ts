import type { Initiator } from '@hopwise/pageload-emulator';
import { groupBy } from './group-by.ts';
import type { FrameReport, JoinedRequest } from './joined-request.ts';
import { withoutFragment } from './url-text.ts';

/** Maximum time between the arrival of a response and a request that it causes, when the clocks show them in reverse. */
const START_TOLERANCE_MS = 5;

/** Coarsest resolution of a page's clock (Firefox; 0.1 ms in Chromium). */
const CLOCK_RESOLUTION_MS = 1;

/**
 * Finds the initiator of each request from four sources: redirects, the `Referer` (of requests by a stylesheet or a module
 * it is that file's own URL: Fetch section 2.2.5, Referrer Policy section 8.3), Resource Timing's `initiatorType`, and the
 * times at which external scripts ran. No source names the script that made a request, so this is inferred.
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
  /** Cache: origins are looked up for each pair of a stylesheet and a request. */
  readonly #origins = new Map<string, string>();

  constructor(requests: JoinedRequest[]) {
    this.#requests = requests;
    this.#byUrl = groupBy(requests, urlOf);
    const scripts = requests.filter(({ type, observed }) => type === 'script' && observed?.referrer);
    this.#scriptsByReferrer = groupBy(scripts, ({ observed }) => withoutFragment(observed!.referrer!));
    const documents = requests.filter(
      ({ type, observed }) => (type === 'document' || type === 'iframe') && observed?.redirected === false,
    );
    this.#documents = groupBy(documents, ({ observed }) => observed!.frameId);
    this.#topOrigin =
      requests.find(({ documentOf }) => documentOf?.frameId === 0)?.documentOf?.timeOrigin ?? 0;
  }

  findInitiator(request: JoinedRequest): FoundInitiator {
    if (request.redirectedFrom) {
      return { kind: 'redirect', from: request.redirectedFrom, source: 'recorded' };
    }
    if (request.type === 'document') return { kind: 'navigation', from: null, source: 'recorded' };
    const document = this.#findDocument(request);
    return (
      findPreload(request, document) ??
      this.#fromReferrer(request, document) ??
      this.#fromScriptRuns(request, document) ??
      this.#fromType(request, document)
    );
  }

  /** Finds the script that made a request; null for a request that the document's markup may have caused. */
  #fromScriptRuns(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator | null {
    const { frame } = request;
    const running = frame && this.#findRunning(request, frame);
    const parsed = frame !== null && this.#toFrameTime(request, frame) > parsedAtMs(frame);
    if (!isMadeByScript(request) && !(parsed && running)) return null;
    // While the document is parsed, inline scripts run between the others.
    const script = running ?? (parsed ? this.#findLastRun(request, frame) : null);
    return { kind: 'script', from: script ?? document, source: 'inferred' };
  }

  /** Finds the script that was running when the request started: the first to end after it. */
  #findRunning(request: JoinedRequest, frame: FrameReport): JoinedRequest | null {
    const startMs = this.#toFrameTime(request, frame);
    for (const run of frame.scriptRuns) {
      if (run.endMs + CLOCK_RESOLUTION_MS < startMs) continue;
      if (run.deferred && startMs < parsedAtMs(frame)) continue;
      const script = this.#findArrived(run.url, request);
      if (script) return this.#findLastImport(script, request);
    }
    return null;
  }

  /** Finds the script that ended last before the request started, for requests of its callbacks. */
  #findLastRun(request: JoinedRequest, frame: FrameReport): JoinedRequest | null {
    const startMs = this.#toFrameTime(request, frame);
    const run = frame.scriptRuns.findLast(({ endMs }) => endMs <= startMs);
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
    // A style element in the markup sends the document's own URL.
    if (referrer && document && referrer === urlOf(document)) {
      return { kind: 'style', from: document, source: 'recorded' };
    }
    // Across origins only the stylesheet's origin is sent.
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

  #originOf(url: string): string {
    let origin = this.#origins.get(url);
    if (origin === undefined) {
      origin = URL.canParse(url) ? new URL(url).origin : '';
      this.#origins.set(url, origin);
    }
    return origin;
  }

  #toFrameTime(request: JoinedRequest, frame: FrameReport): number {
    return request.startMs - (frame.timeOrigin - this.#topOrigin);
  }
}

/** Whether only a script can have made the request: markup neither fetches nor creates elements as scripts do. */
function isMadeByScript(request: JoinedRequest): boolean {
  if (request.type === 'fetch' || request.type === 'beacon') return true;
  const runs = request.type === 'script' ? request.frame?.scriptRuns : undefined;
  return runs?.some(({ url, inserted }) => inserted && url === urlOf(request)) ?? false;
}

/** When the parser ended, after which markup starts only lazy requests: milliseconds after the frame's time origin. */
function parsedAtMs({ navigation }: FrameReport): number {
  return navigation?.domInteractive || Number.POSITIVE_INFINITY;
}

/** Recognizes `<link rel=preload>` and early hints: links that are not stylesheets. */
function findPreload(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator | null {
  const initiatorType = request.entry?.initiatorType;
  const isPreload = initiatorType === 'early-hints' || (initiatorType === 'link' && request.type !== 'style');
  return isPreload ? { kind: 'preload', from: document, source: 'recorded' } : null;
}

function findLastArrived(requests: JoinedRequest[]): JoinedRequest | null {
  return requests.reduce<JoinedRequest | null>((a, b) => (a && a.endMs >= b.endMs ? a : b), null);
}

/** URL before redirects, which is what script calls and Resource Timing contain. */
function urlOf(request: JoinedRequest): string {
  return withoutFragment(request.observed?.url ?? request.entry?.name ?? '');
}
