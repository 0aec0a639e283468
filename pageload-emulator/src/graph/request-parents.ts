import type { RecordedRequest, Recording } from '@hopwise/contract';
import { documentOf } from '../recording/requests/draft.ts';
import { LateCauses } from './late-causes.ts';
import type { DependencyKind } from './page-graph.ts';
import { hadBegun } from './response-arrival.ts';

/** The response that led to a request. */
export interface Parent {
  request: RecordedRequest;
  kind: DependencyKind;
  /** Whether the recording states it. */
  source: 'recorded' | 'inferred';
}

/** The preload scanner finds what a document names this soon after its end, however busy the main thread is. */
const MAX_PARSER_MS = 50;
/** A script that ended this long before a request may have made it in a later script's name. */
const STALE_MS = 50;

/**
 * Finds what led to each request: the nearest initiator in the graph whose response had begun when the request was made, else
 * the document.
 *
 * Recorders name the document for requests of which they know no better: Chromium does so for images that scripts create. What
 * is made too late for the document's parser, or is of a type that no parser requests, is attributed to its likeliest cause. A script
 * that is named but ended long before competes with later ones, as some recorders name only the innermost function of a stack.
 *
 * @param kept requests in the graph, in order of start
 * @returns by `RecordedRequest.id`; the first request has none, nor what was requested before any response began
 */
export function findParents(recording: Recording, kept: readonly RecordedRequest[]): Map<number, Parent> {
  const document = documentOf(recording);
  const [first] = kept as [RecordedRequest];
  // Where the document came from the cache, nothing stands for it.
  const start = document.fromCache && first !== document ? null : first;
  const before = new Set<number>();
  const recorded = new Map<number, RecordedRequest>();
  const roots = new Set<RecordedRequest>();
  const doubtful = new Map<RecordedRequest, RecordedRequest | null>();
  /** Documents that are named for what others may have led to, by `RecordedRequest.id`. */
  const doubted = new Map<number, RecordedRequest>();
  const { domContentLoadedMs: parsedMs } = recording;
  for (const request of kept) {
    const initiator = beganInitiator(request, recording, before);
    const known = before.has(document.id) && document !== request && hadBegun(document, request);
    before.add(request.id);
    if (request === first) continue;
    // Nothing led to what was requested before any response began.
    const parent = initiator ?? (known ? document : start);
    const isStated = request.initiator.source === 'recorded' && request.initiator.requestId !== null;
    if (parent === null || (parent === first && !isStated && !hadBegun(first, request))) {
      roots.add(request);
      if (parent === null) doubtful.set(request, null);
      continue;
    }
    const isPage = parent === document;
    if ((isPage || parent.type === 'iframe') && !isOfDocument(request, parent, isPage ? parsedMs : null)) {
      doubtful.set(request, null);
      doubted.set(request.id, parent);
    } else if (isStale(request, parent)) doubtful.set(request, parent);
    else recorded.set(request.id, parent);
  }
  const causes = new LateCauses(kept, recorded).attribute(doubtful);
  const parents = new Map<number, Parent>();
  for (const request of kept) {
    if (request === first) continue;
    const cause = causes.get(request.id);
    if (cause === undefined && roots.has(request)) continue;
    const parent = cause ?? recorded.get(request.id) ?? doubted.get(request.id) ?? document;
    const isStated = request.initiator.requestId === parent.id && request.initiator.source === 'recorded';
    parents.set(request.id, {
      request: parent,
      kind: dependencyKind(request, parent),
      source: isStated ? 'recorded' : 'inferred',
    });
  }
  return parents;
}

/**
 * Whether a script that is named as a request's initiator ended so long before that it may only have lent a function: recorders name
 * the innermost function of a stack, which is often a helper's, and not the late script that called it.
 */
function isStale({ initiator, startMs }: RecordedRequest, parent: RecordedRequest): boolean {
  return initiator.kind === 'script' && startMs - parent.endMs >= STALE_MS;
}

/**
 * Whether a request that is ascribed to a document, of the page or of a frame, may really come from its markup or its own scripts.
 *
 * @param parsedMs the document's `DOMContentLoaded`; null when unknown
 */
function isOfDocument(request: RecordedRequest, document: RecordedRequest, parsedMs: number | null): boolean {
  const { kind, source } = request.initiator;
  if (kind === 'redirect') return true;
  const isEarly = request.startMs <= document.endMs + MAX_PARSER_MS;
  switch (request.type) {
    case 'image':
    case 'media':
    case 'other':
      return isEarly || kind === 'preload' || (kind === 'script' && source === 'recorded');
    case 'style':
    case 'script':
      return isEarly || source === 'recorded';
    // No preload scanner requests frames: they wait for the parser, which has ended by `DOMContentLoaded`. Later ones are made by scripts,
    // for which recorders without initiators name the parser.
    case 'iframe':
      return (
        source === 'recorded' ||
        (kind === 'parser' && (parsedMs === null || request.startMs <= parsedMs + MAX_PARSER_MS))
      );
    default:
      return source === 'recorded' && kind !== 'other';
  }
}

/** The nearest of a request's chain of initiators that is in `before` and had begun to arrive; null without one. */
function beganInitiator(
  request: RecordedRequest,
  { requests }: Recording,
  before: ReadonlySet<number>,
): RecordedRequest | null {
  const seen = new Set<number>([request.id]);
  let at = request.initiator.requestId;
  while (at !== null && !seen.has(at)) {
    seen.add(at);
    const initiator = requests[at];
    if (initiator === undefined) return null;
    if (before.has(at) && hadBegun(initiator, request)) return initiator;
    at = initiator.initiator.requestId;
  }
  return null;
}

function dependencyKind(request: RecordedRequest, parent: RecordedRequest): DependencyKind {
  if (request.initiator.kind === 'redirect') return 'redirect';
  if (parent.type === 'style') return 'style';
  if (parent.type === 'script' || parent.type === 'fetch') return 'script';
  return request.initiator.kind === 'script' ? 'script' : 'parser';
}
