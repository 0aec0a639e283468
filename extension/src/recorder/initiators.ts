import type { Initiator } from '@hopwise/pageload-emulator';
import { groupBy } from './group-by.ts';
import type { FrameReport, JoinedRequest } from './joined-request.ts';
import type { ScriptRequest } from './page-timings.ts';
import { withoutFragment } from './script-requests.ts';

/** Maximum time between a script's call and the start of its request, including the clock's resolution. */
const START_TOLERANCE_MS = 5;

/**
 * Finds the initiator of each request from four sources: redirects, the script calls that the hook recorded,
 * the `Referer` (of requests by a stylesheet or a module it is that file's own URL: Fetch section
 * 2.2.5, Referrer Policy section 8.3) and Resource Timing's `initiatorType`.
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
  /** Documents of each frame, in order of start; a frame may have held several. */
  readonly #documents: Map<number, JoinedRequest[]>;
  readonly #scriptRequests = new Map<FrameReport, Map<string, ScriptRequest[]>>();
  readonly #topOrigin: number;
  /** Cache: origins are looked up for each pair of a stylesheet and a request. */
  readonly #origins = new Map<string, string>();

  constructor(requests: JoinedRequest[]) {
    this.#requests = requests;
    this.#byUrl = groupBy(requests, urlOf);
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
      this.#fromHook(request, document) ??
      findPreload(request, document) ??
      this.#fromReferrer(request, document) ??
      this.#fromTiming(request, document)
    );
  }

  #fromHook(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator | null {
    const { frame } = request;
    if (!frame) return null;
    let calls = this.#scriptRequests.get(frame);
    if (!calls) {
      calls = groupBy(frame.scriptRequests, ({ url }) => url);
      this.#scriptRequests.set(frame, calls);
    }
    const startMs = this.#toFrameTime(request, frame);
    const call = calls.get(urlOf(request))?.findLast(({ atMs }) => atMs <= startMs + START_TOLERANCE_MS);
    if (!call) return null;
    const scripts = call.scripts.flatMap((url) => {
      // An inline script has the document's URL, and runs before the document is complete.
      if (document && url === urlOf(document)) return [document];
      return this.#findArrived(url, request) ?? [];
    });
    // The request waited for every script on the stack, so for the one that arrived last.
    const last = findLastArrived(scripts);
    return last
      ? { kind: 'script', from: last, source: 'recorded' }
      : { kind: 'script', from: document, source: 'inferred' };
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

  #fromTiming(request: JoinedRequest, document: JoinedRequest | null): FoundInitiator {
    if (request.type === 'other' && request.observed)
      return { kind: 'other', from: document, source: 'inferred' };
    if (request.type === 'fetch' || request.type === 'beacon') {
      return { kind: 'script', from: null, source: 'inferred' };
    }
    // The parser starts no requests once the document is interactive: a later request is of a lazy image
    // or of markup that a script wrote, which the hook does not observe.
    const { frame } = request;
    const parsing =
      frame?.hooked === true &&
      frame.navigation !== null &&
      (frame.navigation.domInteractive === 0 ||
        this.#toFrameTime(request, frame) <= frame.navigation.domInteractive);
    return { kind: 'parser', from: document, source: parsing ? 'recorded' : 'inferred' };
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
