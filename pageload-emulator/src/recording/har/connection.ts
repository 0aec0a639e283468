import { originOf } from '../../util/url.ts';
import type { Entry } from './schema.ts';
import { lengthOf } from './values.ts';

/**
 * Returns the recorder's name for each entry's connection; null when unknown. HAR's own field `connection` is a name with
 * some recorders and the server's port with others (DevTools, Firefox); when it is the port in every entry, it is ignored. So are
 * names under which more than one connection was opened, or several hosts were asked by `http:`, such as those of a proxy's connection to the browser.
 */
export function connectionNames(entries: readonly Entry[]): (string | null)[] {
  const isPort = entries.every(({ connection, request }) => {
    const name = nameOf(connection);
    return name === null || name === portOf(request.url);
  });
  const isIgnored = isPort || opensTwice(entries) || leadsToHosts(entries);
  return entries.map(
    ({ _connectionId, _socket, connection }) =>
      nameOf(_connectionId) ?? nameOf(_socket) ?? (isIgnored ? null : nameOf(connection)),
  );
}

/** Whether a recorder names the connection of a request, or the server's port. */
export function namesConnection({ connection, _connectionId, _socket }: Entry): boolean {
  return [connection, _connectionId, _socket].some((name) => nameOf(name) !== null);
}

function opensTwice(entries: readonly Entry[]): boolean {
  const opened = new Set<string>();
  for (const { connection, timings } of entries) {
    const name = nameOf(connection);
    if (name === null || lengthOf(timings?.connect) === 0) continue;
    if (opened.has(name)) return true;
    opened.add(name);
  }
  return false;
}

/** Whether requests by `http:`, whose connections lead to one host each (RFC 9110, section 4.3.1), went to several ones under a name. */
function leadsToHosts(entries: readonly Entry[]): boolean {
  const origins = new Map<string, string>();
  return entries.some(({ connection, request }) => {
    const name = nameOf(connection);
    const origin = originOf(request.url);
    if (name === null || !origin?.startsWith('http:')) return false;
    const first = origins.get(name) ?? origin;
    origins.set(name, first);
    return first !== origin;
  });
}

/** A connection's name; none for what stands for no connection: 0 (DevTools), −1 (WebPageTest's agents where they know of none). */
function nameOf(name: string | number | null | undefined): string | null {
  return name === null || name === undefined || /^(|0|-1)$/.test(String(name)) ? null : String(name);
}

function portOf(url: string): string {
  const origin = originOf(url) ?? '';
  return /:(\d+)$/.exec(origin)?.[1] ?? (origin.startsWith('http:') ? '80' : '443');
}
