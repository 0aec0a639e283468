import type { RecordedRequest } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

/**
 * Names what carried a response. Where the recorder names no connections, all that an origin sent over HTTP/2 or HTTP/3 is taken to have
 * come over one: browsers hardly open a second one. Over HTTP/1.1 it is not known, so that each request stands alone.
 */
export function likelyConnection({ id, protocol, connectionId, url }: RecordedRequest): string {
  if (connectionId !== null) return connectionId;
  return protocol === 'h2' || protocol === 'h3' ? `${protocol} ${originOf(url)}` : `#${id}`;
}
