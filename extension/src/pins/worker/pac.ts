import { isPinnable } from '../pinnable-origin.ts';
import { PROXY_HOST, type Route } from './steering.ts';

/**
 * Creates the proxy auto-configuration: https requests to pinned origins, matched by host and port, go through the helper's
 * proxy, or directly when that does not answer; trust trials go through it only; everything else goes directly.
 *
 * Chromium passes URLs to the script as `https://host[:port]/`, without the default port.
 *
 * @param serial written into a comment: Chromium retries a proxy that failed only after the script has changed
 * @throws RangeError for an invalid port or origin
 */
export function createPacScript(
  { port, origins, trials }: Pick<Route, 'port' | 'origins' | 'trials'>,
  serial: number,
): string {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new RangeError(`${port} is not a port`);
  const wrong = [...origins, ...trials].find((origin) => !isPinnable(origin));
  if (wrong !== undefined)
    throw new RangeError(`${JSON.stringify(wrong).slice(0, 300)} is not an https origin`);
  return `// ${Math.trunc(serial)}
function FindProxyForURL(url) {
  var end = url.indexOf('/', 8);
  var origin = end < 0 ? url : url.slice(0, end);
  if (${JSON.stringify(trials)}.indexOf(origin) >= 0) return 'PROXY ${PROXY_HOST}:${port}';
  return ${JSON.stringify(origins)}.indexOf(origin) < 0 ? 'DIRECT' : 'PROXY ${PROXY_HOST}:${port}; DIRECT';
}
`;
}
