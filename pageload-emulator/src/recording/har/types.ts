import type { ResourceType } from '@hopwise/contract';
import { likelyType, namedType } from '../requests/resource-type.ts';
import { headerOf } from './headers.ts';
import type { Entry } from './schema.ts';

/** Determines the type of an entry; `named` when its recorder or its own header states it. */
export function typeOf(entry: Entry): { type: ResourceType; named: boolean } {
  const { request, response } = entry;
  const destination = headerOf(request, 'sec-fetch-dest');
  const named = namedType(entry._resourceType ?? entry._request_type ?? null, destination);
  // Recorders that know documents alone call frames so too.
  const isFrame = named === 'document' && /^(i?frame|fencedframe|object|embed)$/i.test(destination ?? '');
  if (isFrame) return { type: 'iframe', named: true };
  const mimeType = response?.content?.mimeType || entry._contentType || null;
  return { type: named ?? likelyType(mimeType, request.url), named: named !== null };
}

/**
 * Whether a browser asked for an HTML page to show it, in a tab or in a frame, rather than for a script: browsers ask so for pages that
 * they navigate to, and scripts do not. Null where the request's headers do not tell.
 */
export function isNavigated({ request }: Entry): boolean | null {
  const mode = headerOf(request, 'sec-fetch-mode');
  if (mode !== null) return /^navigate$/i.test(mode);
  if (/^xmlhttprequest$/i.test(headerOf(request, 'x-requested-with') ?? '')) return false;
  if (headerOf(request, 'upgrade-insecure-requests') !== null) return true;
  const accept = headerOf(request, 'accept');
  return accept === null ? null : accept.includes('application/xhtml+xml');
}

/** Whether a browser fetched something for a page that may be visited next: prefetching and prerendering say so in a header. */
export function isSpeculative({ request }: Entry): boolean {
  const purposes = (['sec-purpose', 'purpose', 'x-moz'] as const).map((name) => headerOf(request, name));
  return purposes.some((purpose) => purpose !== null && /^\s*(prefetch|prerender)/i.test(purpose));
}
