import type { ResourceType } from '@hopwise/contract';
import { likelyType, namedType } from '../requests/resource-type.ts';
import type { Entry } from './schema.ts';

/** Determines the type of an entry; `named` when its recorder or its own header states it. */
export function typeOf(entry: Entry): { type: ResourceType; named: boolean } {
  const { request, response } = entry;
  const destination = request.headers?.find(({ name }) => /^sec-fetch-dest$/i.test(name))?.value;
  const named = namedType(
    entry._resourceType ?? entry._request_type ?? null,
    typeof destination === 'string' ? destination : null,
  );
  const mimeType = response?.content?.mimeType || entry._contentType || null;
  return { type: named ?? likelyType(mimeType, request.url), named: named !== null };
}
