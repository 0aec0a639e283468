import { originOf, resolveReference } from '../../util/url.ts';
import type { RequestDraft } from '../draft.ts';
import { type AskedFor, askedForBy } from './asked-for.ts';
import { DraftIndex } from './draft-index.ts';
import { isRedirect } from './redirect.ts';
import type { Entry } from './schema.ts';
import { pathKey, siteKey, urlKey } from './urls.ts';

/** The requests of a page load, and what they were made of. */
export interface Drafts {
  /** In order of start, the first being the navigation's. */
  ordered: readonly RequestDraft[];
  document: RequestDraft;
  /** DOMContentLoaded, before which the parser is at work, milliseconds after navigationStart; null when not known. */
  parsedMs: number | null;
  entryOf: ReadonlyMap<RequestDraft, Entry>;
  /** Those of which the recorder said what they are for. */
  typed: ReadonlySet<RequestDraft>;
}

/**
 * Says of each draft who asked for it: whom the recording names, else who may have, marked as inferred.
 *
 * - A redirect's `Location` leads to the next request for it; where only the query differs, to one that began as
 *   the redirect ended.
 * - Of the URLs that an entry names, exact ones go before those that differ in the query alone.
 * - A request without any comes from the page that its `Referer` names; from a frame of its own origin; in a
 *   recording that names initiators, where the parser's are known, from a script of its own site; or from the document.
 */
export function linkInitiators(drafts: Drafts): void {
  const { ordered, typed } = drafts;
  const askers = new Askers(drafts);
  for (const draft of ordered) {
    draft.initiator =
      draft === ordered[0]
        ? { kind: 'navigation', request: null, source: 'recorded' }
        : (askers.redirectTo(draft) ?? askers.asked(draft));
  }
  for (const draft of ordered) passOverPreflight(draft);
  // A redirect is for what it leads to, whatever its own body is.
  for (const draft of ordered.toReversed()) {
    const { kind, request } = draft.initiator;
    if (kind === 'redirect' && request !== null && !typed.has(request)) request.type = draft.type;
  }
}

/** A preflight waits for what the request that it goes before waits for. */
function passOverPreflight(draft: RequestDraft): void {
  const { request } = draft.initiator;
  if (request === null || draft.method !== 'OPTIONS' || pathKey(request.url) !== pathKey(draft.url)) return;
  if (request.initiator.request !== null) draft.initiator = { ...request.initiator };
}

/** Recorders round: a redirect's answer may seem to end a little after what it led to. */
const REDIRECT_SLACK_MS = 5;
/** What begins within this of a redirect's end was asked for by it. */
const REDIRECT_SPAN_MS = 20;
/** Clocks of phases and of starts differ by about this much in one recording. */
const CLOCK_SLACK_MS = 5;

class Askers {
  readonly #document: RequestDraft;
  readonly #entryOf: ReadonlyMap<RequestDraft, Entry>;
  readonly #position: ReadonlyMap<RequestDraft, number>;
  readonly #byUrl: DraftIndex;
  readonly #byPath: DraftIndex;
  readonly #redirects: DraftIndex;
  readonly #redirectPaths: DraftIndex;
  readonly #frames: DraftIndex;
  readonly #scripts: DraftIndex;
  readonly #byRequestId = new Map<string, RequestDraft>();
  readonly #asked = new Map<RequestDraft, AskedFor>();
  /** Whether the recording names initiators at all. */
  readonly #namesInitiators: boolean;
  /** Until when the parser may have been at work. */
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
      if (entry._requestId != null) this.#byRequestId.set(String(entry._requestId), draft);
      const asked = askedForBy(entry);
      this.#asked.set(draft, asked);
      if (asked.kind !== null) named++;
    }
    this.#namesInitiators = named > 0;
    for (const index of [this.#redirects, this.#redirectPaths, this.#frames, this.#scripts]) index.sort();
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

  asked(draft: RequestDraft): RequestDraft['initiator'] {
    const own = this.#asked.get(draft)!;
    const named = own.requestId === null ? undefined : this.#byRequestId.get(own.requestId);
    // A preflight may begin before the request that it is for: then that one's asker is its.
    const isLater = named !== undefined && this.#position.get(named)! > this.#position.get(draft)!;
    const asked = isLater ? this.#asked.get(named)! : own;
    const exact =
      (isLater ? undefined : named) ??
      this.#latestOf(asked.urls, (url) => this.#byUrl.latestBefore(urlKey(url), draft));
    if (exact !== null) return this.#found(asked, exact, 'recorded');
    const like = this.#latestOf(asked.urls, (url) => this.#byPath.latestBefore(pathKey(url), draft));
    if (like !== null) return this.#found(asked, like, 'inferred');
    const referer = refererOf(this.#entryOf.get(draft)!);
    const referring = referer === null ? null : this.#byUrl.latestBefore(urlKey(referer), draft);
    return this.#found(asked, referring ?? this.#likely(draft, asked), 'inferred', draft);
  }

  /** Of the scripts on a stack, the one that arrived last held the request up. */
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

  /** Whether the parser may have found it: what documents refer to, while it was at work. */
  #isParsed({ type, startMs }: RequestDraft): boolean {
    return /^(style|script|image|iframe)$/.test(type) && startMs <= this.#parsedMs;
  }
}

function locationOf({ response }: Entry): string | null {
  if (response?.redirectURL) return response.redirectURL;
  const value = response?.headers?.find(({ name }) => /^location$/i.test(name))?.value;
  return typeof value === 'string' && value !== '' ? value : null;
}

function refererOf({ request }: Entry): string | null {
  const value = request.headers?.find(({ name }) => /^referer$/i.test(name))?.value;
  return typeof value === 'string' && value !== '' ? value : null;
}
