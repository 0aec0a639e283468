import { originOf } from '../../util/url.ts';
import type { Entry } from './schema.ts';

/**
 * Returns the recorder's name for each entry's connection; null when unknown. HAR's own field `connection` is a name with
 * some recorders and the server's port with others (DevTools, Firefox); when it is the port in every entry, it is ignored.
 */
export function connectionNames(entries: readonly Entry[]): (string | null)[] {
  const isPort = entries.every(({ connection, request }) => {
    const name = nameOf(connection);
    return name === null || name === portOf(request.url);
  });
  return entries.map(
    ({ _connectionId, _socket, connection }) =>
      nameOf(_connectionId) ?? nameOf(_socket) ?? (isPort ? null : nameOf(connection)),
  );
}

function nameOf(name: string | number | null | undefined): string | null {
  return name === null || name === undefined || name === '' || String(name) === '0' ? null : String(name);
}

function portOf(url: string): string {
  const origin = originOf(url) ?? '';
  return /:(\d+)$/.exec(origin)?.[1] ?? (origin.startsWith('http:') ? '80' : '443');
}
