import { CLOCK_SLACK_MS } from '@hopwise/contract';
import { siteKey } from '../../util/site.ts';
import { originOf, resolveReference } from '../../util/url.ts';
import type { RequestDraft } from '../requests/draft.ts';
import { type AskedFor, askedForBy } from './asked-for.ts';
import { DraftIndex } from './draft-index.ts';
import { headerOf, locationOf } from './headers.ts';
import { type Entry, isRedirect } from './schema.ts';
import { pathKey, urlKey } from './urls.ts';

/** The requests of a page load with their entries. */
export interface Drafts {
  /** In order of start, the first being the navigation's. */
  ordered: readonly RequestDraft[];
  document: RequestDraft;
  /** DOMContentLoaded, before which the parser is at work, milliseconds after navigationStart; null when not known. */
  parsedMs: number | null;
  entryOf: ReadonlyMap<RequestDraft, Entry>;
  /** Drafts whose type the recorder states. */
  typed: ReadonlySet<RequestDraft>;
  /** Preflights by the requests that they let through. */
  preflights: ReadonlyMap<RequestDraft, RequestDraft>;
}

/**
 * Sets the initiator of each draft: the one that the recording names, else the likely one, marked as inferred.
 *
 * - A redirect is the initiator of the next request for its `Location`; when only the query differs, of one that began as
 *   the redirect ended.
 * - Of the URLs that an entry names, exact matches go before those that differ only in the query.
 * - A preflight has the initiator of its request, and is that request's own where it was waited for.
 * - A request whose entry names none is taken to come from the page or the style sheet of its `Referer`, which other origins get cut to
 *   the origin; else from a frame of its own origin; else, in a recording that names initiators, from a script of its own
 *   site; else from the document.
 */
export function linkInitiators(drafts: Drafts): void {
  const { ordered, typed, preflights } = drafts;
  const finder = new InitiatorFinder(drafts);
  for (const draft of ordered) {
    draft.initiator =
      draft === ordered[0]
        ? { kind: 'navigation', request: null, source: 'recorded' }
        : (finder.redirectTo(draft) ?? finder.initiatorOf(draft));
  }
  for (const draft of ordered) passOverPreflight(draft);
  for (const [request, preflight] of preflights) linkPreflight(request, preflight);
  // A redirect has the type of its target, whatever its own body is.
  for (const draft of ordered.toReversed()) {
    const { kind, request } = draft.initiator;
    if (kind === 'redirect' && request !== null && !typed.has(request)) request.type = draft.type;
  }
}

/** A preflight has the same initiator as the request that it precedes. */
function passOverPreflight(draft: RequestDraft): void {
  const { request } = draft.initiator;
  if (request === null || draft.method !== 'OPTIONS' || pathKey(request.url) !== pathKey(draft.url)) return;
  if (request.initiator.request !== null) draft.initiator = { ...request.initiator };
}

/** Puts a preflight between a request and its initiator. */
function linkPreflight(request: RequestDraft, preflight: RequestDraft): void {
  const asker = request.initiator.request;
  if (asker !== null && asker !== preflight && asker.startMs <= preflight.startMs)
    preflight.initiator = { ...request.initiator };
  request.initiator = { kind: 'script', request: preflight, source: 'recorded' };
}

/** Recorders round times: a redirect may seem to end a little after its target began. */
const REDIRECT_SLACK_MS = 5;
/** A request that begins within this of a redirect's end is taken to be its target. */
const REDIRECT_SPAN_MS = 20;

class InitiatorFinder {
  readonly #document: RequestDraft;
  readonly #entryOf: ReadonlyMap<RequestDraft, Entry>;
  readonly #position: ReadonlyMap<RequestDraft, number>;
  readonly #byUrl: DraftIndex;
  readonly #byPath: DraftIndex;
  readonly #redirects: DraftIndex;
  readonly #redirectPaths: DraftIndex;
  readonly #frames: DraftIndex;
  readonly #scripts: DraftIndex;
  readonly #styles: DraftIndex;
  readonly #byRequestId = new Map<string, RequestDraft>();
  readonly #asked = new Map<RequestDraft, AskedFor>();
  /** Whether the recording names initiators at all. */
  readonly #namesInitiators: boolean;
  /** When the parser had ended at the latest. */
  readonly #parsedMs: number;

  constructor({ ordered, document, parsedMs, entryOf }: Drafts) {
    this.#document = document;
    this.#entryOf = entryOf;
    this.#parsedMs = Math.max(document.endMs + CLOCK_SLACK_MS, parsedMs ?? 0);
    const position = new Map(ordered.map((draft, index) => [draft, index]));
    this.#position = position;
    const startOf = (draft: RequestDraft) => draft.startMs;
    const endOf = (draft: RequestDraft) => draft.endMs;
    this.#byUrl = new DraftIndex(position, startOf);
    this.#byPath = new DraftIndex(position, startOf);
    this.#redirects = new DraftIndex(position, endOf);
    this.#redirectPaths = new DraftIndex(position, endOf);
    this.#frames = new DraftIndex(position, (draft) => draft.phases.responseStartMs ?? draft.endMs);
    this.#scripts = new DraftIndex(position, endOf);
    this.#styles = new DraftIndex(position, endOf);
    let named = 0;
    for (const draft of ordered) {
      const entry = entryOf.get(draft)!;
      this.#byUrl.add(urlKey(draft.url), draft);
      this.#byPath.add(pathKey(draft.url), draft);
      const location = locationOf(entry);
      if (location !== null && isRedirect(draft.status)) {
        const target = resolveReference(location, draft.url);
        this.#redirects.add(urlKey(target), draft);
        this.#redirectPaths.add(pathKey(target), draft);
      }
      if (draft.type === 'iframe') this.#frames.add(originOf(draft.url) ?? '', draft);
      if (draft.type === 'script') this.#scripts.add(siteKey(draft.url), draft);
      if (draft.type === 'style') this.#styles.add(originOf(draft.url) ?? '', draft);
      if (entry._requestId != null) this.#byRequestId.set(String(entry._requestId), draft);
      const asked = askedForBy(entry);
      this.#asked.set(draft, asked);
      if (asked.kind !== null) named++;
    }
    this.#namesInitiators = named > 0;
    for (const index of [this.#redirects, this.#redirectPaths, this.#frames, this.#scripts, this.#styles])
      index.sort();
  }

  redirectTo(draft: RequestDraft): RequestDraft['initiator'] | null {
    const named = this.#redirects.latestBefore(urlKey(draft.url), draft, REDIRECT_SLACK_MS);
    if (named !== null) return { kind: 'redirect', request: named, source: 'recorded' };
    const like = this.#redirectPaths.latestBefore(pathKey(draft.url), draft, REDIRECT_SLACK_MS);
    if (like !== null && draft.startMs - like.endMs <= REDIRECT_SPAN_MS) {
      return { kind: 'redirect', request: like, source: 'inferred' };
    }
    return null;
  }

  initiatorOf(draft: RequestDraft): RequestDraft['initiator'] {
    const own = this.#asked.get(draft)!;
    const named = own.requestId === null ? undefined : this.#byRequestId.get(own.requestId);
    // A preflight may begin before the request that it is for; then it has that request's initiator.
    const isLater = named !== undefined && this.#position.get(named)! > this.#position.get(draft)!;
    const asked = isLater ? this.#asked.get(named)! : own;
    const exact =
      (isLater ? undefined : named) ??
      this.#latestOf(asked.urls, (url) => this.#byUrl.latestBefore(urlKey(url), draft));
    if (exact !== null) return this.#found(asked, exact, 'recorded');
    const like = this.#latestOf(asked.urls, (url) => this.#byPath.latestBefore(pathKey(url), draft));
    if (like !== null) return this.#found(asked, like, 'inferred');
    const referer = headerOf(this.#entryOf.get(draft)!.request, 'referer');
    const referring =
      referer === null
        ? null
        : (this.#byUrl.latestBefore(urlKey(referer), draft) ?? this.#referringOf(referer, draft));
    return this.#found(asked, referring ?? this.#likely(draft, asked), 'inferred', draft);
  }

  /**
   * Finds what a `Referer` of another origin than the page's names by its origin alone (Referrer Policy,
   * `strict-origin-when-cross-origin`): a frame, else a style sheet.
   */
  #referringOf(referer: string, draft: RequestDraft): RequestDraft | null {
    const origin = originOf(referer);
    if (origin === null || origin === originOf(this.#document.url)) return null;
    const frame = this.#frames.latestBefore(origin, draft, CLOCK_SLACK_MS);
    return frame ?? this.#styles.latestBefore(origin, draft, CLOCK_SLACK_MS);
  }

  /** Finds the script of a stack that arrived last: it held up the request. */
  #latestOf(urls: Iterable<string>, find: (url: string) => RequestDraft | null): RequestDraft | null {
    let latest: RequestDraft | null = null;
    for (const url of urls) {
      const next = find(url);
      if (next !== null && (latest === null || next.endMs > latest.endMs)) latest = next;
    }
    return latest;
  }

  #likely(draft: RequestDraft, asked: AskedFor): RequestDraft {
    if (asked.byBrowser) return this.#document;
    const origin = originOf(draft.url) ?? '';
    if (origin !== originOf(this.#document.url) && draft.type !== 'iframe') {
      const frame = this.#frames.latestBefore(origin, draft, CLOCK_SLACK_MS);
      if (frame !== null) return frame;
    }
    const byScript = asked.kind === 'script' || (asked.kind === null && this.#namesInitiators);
    const script = byScript ? this.#scripts.latestBefore(siteKey(draft.url), draft, CLOCK_SLACK_MS) : null;
    return script ?? this.#document;
  }

  #found(
    { kind, byBrowser }: AskedFor,
    request: RequestDraft,
    source: 'recorded' | 'inferred',
    unnamed?: RequestDraft,
  ): RequestDraft['initiator'] {
    if (request.type === 'style' && (kind === null || kind === 'parser'))
      return { kind: 'style', request, source };
    if (kind !== null || byBrowser) return { kind: kind ?? 'other', request, source };
    if (request.type === 'script') return { kind: 'script', request, source };
    const parsed = unnamed !== undefined && !this.#namesInitiators && this.#isParsed(unnamed);
    return { kind: parsed ? 'parser' : 'other', request, source };
  }

  /** Whether the parser may have found it: documents refer to such types, and the parser was at work. */
  #isParsed({ type, startMs }: RequestDraft): boolean {
    return /^(style|script|image|iframe)$/.test(type) && startMs <= this.#parsedMs;
  }
}
