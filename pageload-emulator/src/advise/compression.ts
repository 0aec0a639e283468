import type { RecordedRequest } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import { COMPRESSED_SHARE } from '../recording/sizes.ts';
import { originOf } from '../util/url.ts';
import type { ServedPage } from './document.ts';

/** Smaller bodies fit into one packet as they are, bytes. */
const MIN_BODY_BYTES = 1_400;
/** A body that takes at least this share of its decoded size on the wire was not compressed. */
const UNCOMPRESSED_SHARE = 0.95;
/** Types that are text. Answers to scripts (`fetch`) may be anything. */
const TEXT: readonly RecordedRequest['type'][] = ['document', 'iframe', 'style', 'script'];

/**
 * Bytes that compression would save, by `RecordedRequest.id`, of text that came uncompressed from some origins: as gzip does where
 * the body is known, else by the usual share.
 */
export function compressibleBodies(
  { recording, gzipBytes }: Pick<ServedPage, 'recording' | 'gzipBytes'>,
  origins: ReadonlySet<string>,
): Map<number, number> {
  const saved = new Map<number, number>();
  for (const { id, url, type, bodyBytes, decodedBytes, fromCache } of recording.requests) {
    if (fromCache || !TEXT.includes(type) || !origins.has(originOf(url) ?? '')) continue;
    if (bodyBytes === null || decodedBytes === null || bodyBytes < MIN_BODY_BYTES) continue;
    if (bodyBytes >= UNCOMPRESSED_SHARE * decodedBytes) {
      const compressed = gzipBytes?.get(url) ?? Math.round(bodyBytes * COMPRESSED_SHARE);
      if (compressed < bodyBytes) saved.set(id, bodyBytes - compressed);
    }
  }
  return saved;
}

/** The page with shorter responses. @param saved bytes by `FetchActivity.requestId` */
export function withCompressedBodies(graph: PageGraph, saved: ReadonlyMap<number, number>): PageGraph {
  return {
    ...graph,
    activities: graph.activities.map((activity) =>
      activity.kind === 'fetch' && saved.has(activity.requestId)
        ? {
            ...activity,
            responseBytes: Math.max(1, activity.responseBytes - saved.get(activity.requestId)!),
          }
        : activity,
    ),
  };
}
