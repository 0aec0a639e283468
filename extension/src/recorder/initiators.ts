import type { Initiator } from '@hopwise/pageload-emulator';
import { withoutFragment } from './script-requests.ts';
import { groupBy } from './group-by.ts';
import type { FrameReport, JoinedRequest } from './joined-request.ts';
import type { Ask } from './page-timings.ts';

/** A browser starts a request within this of a script's call, on either side of the clock's grain. */
const SAME_MOMENT_MS = 5;

/**
 * Who asked for each request, from four witnesses: redirects, the hook's notes of scripts' calls,
 * the `Referer` (for what a stylesheet or a module asks it is that file's own URL: Fetch section
 * 2.2.5, Referrer Policy section 8.3) and Resource Timing's `initiatorType`.
 *
 * @param requests in order of start, the page's own first
 * @returns one for each request, `requestId` an index into `requests`
 */
export function findInitiators(requests: JoinedRequest[]): Initiator[] {
  const witnesses = new Witnesses(requests);
  const ids = new Map(requests.map((request, id) => [request, id]));
  return requests.map((request) => {
    const { kind, from, source } = witnesses.initiatorOf(request);
    const requestId = from ? ids.get(from)! : null;
    return { kind, requestId, source: from || kind === 'navigation' ? source : 'inferred' };
  });
}

interface Asker {
  kind: Initiator['kind'];
  from: JoinedRequest | null;
  source: Initiator['source'];
}

class Witnesses {
  readonly #requests: JoinedRequest[];
  readonly #byUrl: Map<string, JoinedRequest[]>;
  /** Documents of each frame, in order of start; a frame may have held several. */
  readonly #documents: Map<number, JoinedRequest[]>;
  readonly #asks = new Map<FrameReport, Map<string, Ask[]>>();
  readonly #topOrigin: number;
  /** Origins of URLs, which are looked up for each pair of a stylesheet and what one asked for. */
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

  initiatorOf(request: JoinedRequest): Asker {
    if (request.redirectedFrom) {
      return { kind: 'redirect', from: request.redirectedFrom, source: 'recorded' };
    }
    if (request.type === 'document') return { kind: 'navigation', from: null, source: 'recorded' };
    const document = this.#documentOf(request);
    return (
      this.#fromHook(request, document) ??
      preloaded(request, document) ??
      this.#fromReferrer(request, document) ??
      this.#fromTiming(request, document)
    );
  }

  #fromHook(request: JoinedRequest, document: JoinedRequest | null): Asker | null {
    const { frame } = request;
    if (!frame) return null;
    let asks = this.#asks.get(frame);
    if (!asks) {
      asks = groupBy(frame.asks, (ask) => ask.url);
      this.#asks.set(frame, asks);
    }
    const startMs = this.#onFramesClock(request, frame);
    const ask = asks.get(urlOf(request))?.findLast(({ atMs }) => atMs <= startMs + SAME_MOMENT_MS);
    if (!ask) return null;
    const scripts = ask.scripts.flatMap((url) => {
      // An inline script bears the document's URL, and runs before the document has ended.
      if (document && url === urlOf(document)) return [document];
      return this.#arrived(url, request) ?? [];
    });
    // All of the stack had to be there; the last to arrive is what the request waited for.
    const last = lastToArrive(scripts);
    return last
      ? { kind: 'script', from: last, source: 'recorded' }
      : { kind: 'script', from: document, source: 'inferred' };
  }

  #fromReferrer(request: JoinedRequest, document: JoinedRequest | null): Asker | null {
    const referrer = request.observed?.referrer ? withoutFragment(request.observed.referrer) : null;
    const referring = referrer ? this.#arrived(referrer, request) : null;
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
        one.endMs <= request.startMs + SAME_MOMENT_MS &&
        (!referrer || this.#originOf(urlOf(one)) === this.#originOf(referrer)),
    );
    return { kind: 'style', from: lastToArrive(sheets) ?? document, source: 'inferred' };
  }

  #fromTiming(request: JoinedRequest, document: JoinedRequest | null): Asker {
    if (request.type === 'other' && request.observed)
      return { kind: 'other', from: document, source: 'inferred' };
    if (request.type === 'fetch' || request.type === 'beacon') {
      return { kind: 'script', from: null, source: 'inferred' };
    }
    // The parser asks for nothing more once the document is interactive: then it was a lazy image
    // or markup that a script wrote, which the hook does not see.
    const { frame } = request;
    const parsing =
      frame?.hooked === true &&
      frame.navigation !== null &&
      (frame.navigation.domInteractive === 0 ||
        this.#onFramesClock(request, frame) <= frame.navigation.domInteractive);
    return { kind: 'parser', from: document, source: parsing ? 'recorded' : 'inferred' };
  }

  /** The response of `url` that was there when `request` started. */
  #arrived(url: string, request: JoinedRequest): JoinedRequest | null {
    const there = this.#byUrl
      .get(url)
      ?.filter((one) => one !== request && one.endMs <= request.startMs + SAME_MOMENT_MS);
    return there ? lastToArrive(there) : null;
  }

  /** The document in whose frame the request was made; the page's, when that frame was not seen. */
  #documentOf(request: JoinedRequest): JoinedRequest | null {
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

  #onFramesClock(request: JoinedRequest, frame: FrameReport): number {
    return request.startMs - (frame.timeOrigin - this.#topOrigin);
  }
}

/** `<link rel=preload>` and early hints: a link that is no stylesheet's. */
function preloaded(request: JoinedRequest, document: JoinedRequest | null): Asker | null {
  const initiatorType = request.entry?.initiatorType;
  const isPreload = initiatorType === 'early-hints' || (initiatorType === 'link' && request.type !== 'style');
  return isPreload ? { kind: 'preload', from: document, source: 'recorded' } : null;
}

function lastToArrive(requests: JoinedRequest[]): JoinedRequest | null {
  return requests.reduce<JoinedRequest | null>((a, b) => (a && a.endMs >= b.endMs ? a : b), null);
}

/** URL first asked for: what scripts and Resource Timing name. */
function urlOf(request: JoinedRequest): string {
  return withoutFragment(request.observed?.url ?? request.entry?.name ?? '');
}
