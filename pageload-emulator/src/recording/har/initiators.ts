import { firstIndexWhere } from '../../ordered.ts';
import { resolveReference } from '../../url.ts';
import type { RequestDraft } from '../draft.ts';
import type { InitiatorKind } from '../recording.ts';
import { isRedirect } from './redirect.ts';
import type { Entry } from './schema.ts';
import { objectOf } from './values.ts';

/** Says of each draft who asked for it; `entries` are what the drafts were made of. */
export function linkInitiators(entries: readonly Entry[], drafts: readonly RequestDraft[]): void {
  const requests = new DraftsByUrl((draft) => draft.startMs);
  const redirects = new DraftsByUrl((draft) => draft.endMs);
  for (const [index, draft] of drafts.entries()) {
    requests.add(draft.url, draft);
    const entry = entries[index]!;
    const location = entry.response?.redirectURL;
    if (location && isRedirect(draft.status)) {
      redirects.add(resolveReference(location, entry.request.url), draft);
    }
  }
  requests.sort();
  redirects.sort();
  for (const [index, draft] of drafts.entries()) {
    const redirect = redirects.latestBefore(draft.url, draft, REDIRECT_SLACK_MS);
    if (redirect) {
      draft.initiator = { kind: 'redirect', request: redirect, source: 'recorded' };
      continue;
    }
    const asked = initiatorOf(entries[index]!);
    // Of the scripts on a stack, the one that arrived last held the request up.
    let asker: RequestDraft | null = null;
    for (const url of asked.urls) {
      const next = requests.latestBefore(url, draft);
      if (next !== null && (asker === null || next.endMs > asker.endMs)) asker = next;
    }
    const source = asker === null || asked.kind === 'other' ? 'inferred' : 'recorded';
    const fromStyle = asker?.type === 'style' && asked.kind === 'parser';
    draft.initiator = { kind: fromStyle ? 'style' : asked.kind, request: asker, source };
  }
  const first = drafts.reduce((least, next) => (next.startMs < least.startMs ? next : least), drafts[0]!);
  first.initiator = { kind: 'navigation', request: null, source: 'recorded' };
}

/** Recorders round: a redirect's answer may seem to end a little after what it led to. */
const REDIRECT_SLACK_MS = 5;
/** No browser makes more redirects to one URL within the slack; a hostile file would have each one looked at. */
const MOST_LOOKED_AT = 100;

/** Drafts by a URL, those of one URL in order of a time of theirs. */
class DraftsByUrl {
  readonly #byUrl = new Map<string, RequestDraft[]>();
  readonly #timeOf: (draft: RequestDraft) => number;

  constructor(timeOf: (draft: RequestDraft) => number) {
    this.#timeOf = timeOf;
  }

  add(url: string, draft: RequestDraft): void {
    const known = this.#byUrl.get(url);
    if (known) known.push(draft);
    else this.#byUrl.set(url, [draft]);
  }

  /** Puts those of one URL in order; of equal times the first that was added comes last. */
  sort(): void {
    for (const drafts of this.#byUrl.values()) {
      drafts.reverse().sort((a, b) => this.#timeOf(a) - this.#timeOf(b));
    }
  }

  /** Of the drafts for `url` that began before `draft`, the last whose time is not `slackMs` behind its start. */
  latestBefore(url: string, draft: RequestDraft, slackMs = 0): RequestDraft | null {
    const drafts = this.#byUrl.get(url) ?? [];
    const end = firstIndexWhere(drafts, (next) => this.#timeOf(next) > draft.startMs + slackMs);
    for (let i = end - 1; i >= Math.max(0, end - MOST_LOOKED_AT); i--) {
      const candidate = drafts[i]!;
      if (candidate !== draft && candidate.startMs <= draft.startMs) return candidate;
    }
    return null;
  }
}

interface AskedFor {
  kind: InitiatorKind;
  /** URLs on the stack, innermost first. */
  urls: Iterable<string>;
}

const KINDS = new Map<string, InitiatorKind>([
  ['parser', 'parser'],
  ['script', 'script'],
  ['preload', 'preload'],
  ['preflight', 'script'],
  ['signedexchange', 'parser'],
]);

/** Chromium's object, or the URL string of WebPageTest and chrome-har with its `_initiator_detail`. */
function initiatorOf(entry: Entry): AskedFor {
  const detail = objectOf(entry._initiator) ?? objectOf(jsonOf(entry._initiator_detail));
  const plain = typeof entry._initiator === 'string' && entry._initiator !== '' ? entry._initiator : null;
  if (detail === null) {
    const referer = entry.request.headers?.find(({ name }) => name.toLowerCase() === 'referer')?.value;
    if (plain !== null) return { kind: kindOf(entry._initiator_type) ?? 'parser', urls: [plain] };
    // A referrer names the document, or the stylesheet or module that asked: right, but nobody said so.
    return { kind: 'other', urls: typeof referer === 'string' ? [referer] : [] };
  }
  const kind = kindOf(typeof detail.type === 'string' ? detail.type : entry._initiator_type);
  const urls = new Set<string>();
  if (typeof detail.url === 'string' && detail.url !== '') urls.add(detail.url);
  let stack = objectOf(detail.stack);
  for (let depth = 0; stack !== null && depth < MAX_ASYNC_DEPTH; depth++) {
    const frames = Array.isArray(stack.callFrames) ? stack.callFrames : [];
    for (const frame of frames) {
      const url = objectOf(frame)?.url;
      if (typeof url === 'string' && url !== '') urls.add(url);
    }
    stack = objectOf(stack.parent);
  }
  if (urls.size === 0 && plain !== null) urls.add(plain);
  return { kind: kind ?? 'other', urls };
}

/** Async stacks chain through promises and timers; beyond this they say nothing new. */
const MAX_ASYNC_DEPTH = 16;

function kindOf(type: string | null | undefined): InitiatorKind | null {
  return KINDS.get(type?.toLowerCase() ?? '') ?? null;
}

function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    // A detail that is not JSON tells nothing; the initiator's URL stands beside it.
    return null;
  }
}
