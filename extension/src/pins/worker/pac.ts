import { findPort } from '../../evidence/every-origin.ts';
import { isPinnable } from '../pinnable-origin.ts';
import { PROXY_HOST, type Route } from './steering.ts';

/**
 * Creates the proxy auto-configuration: https requests to pinned origins, matched by host and port, go through the helper's
 * proxy, or directly when that does not answer; trust trials go through it only; everything else goes directly, unless every origin is
 * pinned.
 *
 * Chromium passes URLs to the script as `https://host[:port]/`, without the default port.
 *
 * @param serial written into a comment: Chromium retries a proxy that failed only after the script has changed
 * @throws RangeError for an invalid port or origin
 */
export function createPacScript({ port, origins, trials, everyOrigin }: Route, serial: number): string {
  const wrongPort = [port, ...(everyOrigin?.ports ?? [])].find(
    (one) => !Number.isInteger(one) || one < 1 || one > 65_535,
  );
  if (wrongPort !== undefined) throw new RangeError(`${wrongPort} is not a port`);
  const wrong = [...origins, ...trials].find((origin) => !isPinnable(origin));
  if (wrong !== undefined)
    throw new RangeError(`${JSON.stringify(wrong).slice(0, 300)} is not an https origin`);
  const others = everyOrigin
    ? `var port = (${findPort})(url, ${writeAscii(everyOrigin)});
  return port > 0 ? 'PROXY ${PROXY_HOST}:' + port + '; DIRECT' : 'DIRECT';`
    : `return 'DIRECT';`;
  return `// ${Math.trunc(serial)}
function FindProxyForURL(url) {
  var end = url.indexOf('/', 8);
  var origin = end < 0 ? url : url.slice(0, end);
  if (${JSON.stringify(trials)}.indexOf(origin) >= 0) return 'PROXY ${PROXY_HOST}:${port}';
  if (${JSON.stringify(origins)}.indexOf(origin) >= 0) return 'PROXY ${PROXY_HOST}:${port}; DIRECT';
  ${others}
}
`;
}

/** Chromium accepts no other characters in a PAC script. */
function writeAscii(value: object): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
