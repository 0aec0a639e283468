import type { RecordedRequest, Recording } from '@hopwise/contract';
import { documentOf } from '../recording/requests/draft.ts';
import type { DependencyKind } from './page-graph.ts';
import { hadBegun } from './response-arrival.ts';

/** The response that led to a request. */
export interface Parent {
  request: RecordedRequest;
  kind: DependencyKind;
  /** Whether the recording states it. */
  source: 'recorded' | 'inferred';
}

/**
 * Finds what led to each request: the nearest initiator in the graph whose response had begun when the request was made, else
 * the document.
 *
 * @param kept requests in the graph, in order of start
 * @returns by `RecordedRequest.id`; the first request has none
 */
export function findParents(recording: Recording, kept: readonly RecordedRequest[]): Map<number, Parent> {
  const document = documentOf(recording);
  const [first] = kept as [RecordedRequest];
  const before = new Set<number>();
  const parents = new Map<number, Parent>();
  for (const request of kept) {
    const initiator = beganInitiator(request, recording, before);
    before.add(request.id);
    if (request === first) continue;
    const known = before.has(document.id) && document !== request && hadBegun(document, request);
    const parent = initiator ?? (known ? document : first);
    parents.set(request.id, {
      request: parent,
      kind: dependencyKind(request, parent),
      source:
        request.initiator.requestId === parent.id && request.initiator.source === 'recorded'
          ? 'recorded'
          : 'inferred',
    });
  }
  return parents;
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
  if (parent.type === 'script') return 'script';
  return request.initiator.kind === 'script' ? 'script' : 'parser';
}
