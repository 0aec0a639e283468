import type { Recording } from '@hopwise/contract';
import { originOf } from '../util/url.ts';

/**
 * Groups origins that the browser served over one HTTP/2 or HTTP/3 connection: their servers share an address and a
 * certificate (RFC 9113 section 9.1.1), under either protocol.
 *
 * @returns the group of each such origin, named after the group's first origin
 */
export function connectionGroups(recording: Recording): Map<string, string> {
  /** Union-find: parent of each origin; a root is its own parent. */
  const parents = new Map<string, string>();
  const groupOf = (origin: string): string => {
    let group = origin;
    for (
      let parent = parents.get(group);
      parent !== undefined && parent !== group;
      parent = parents.get(group)
    ) {
      group = parent;
    }
    return group;
  };
  const firstOn = new Map<string, string>();
  for (const { url, protocol, connectionId, remoteIp, fromCache } of recording.requests) {
    const origin = originOf(url);
    if (origin === null || connectionId === null || fromCache) continue;
    if (protocol !== 'h2' && protocol !== 'h3') continue;
    // Some recorders identify connections by port, which may be equal for different addresses.
    const connection = `${protocol} ${connectionId} ${remoteIp ?? ''}`;
    const first = firstOn.get(connection);
    if (first === undefined) firstOn.set(connection, origin);
    else if (groupOf(first) !== groupOf(origin)) {
      parents.set(groupOf(first), groupOf(first));
      parents.set(groupOf(origin), groupOf(first));
    }
  }
  return new Map([...parents.keys()].map((origin) => [origin, groupOf(origin)]));
}
