import { PROXY_HOST, type Route } from './steering.ts';

/** A DNS name has at most 253 characters, a port 5 digits. */
const MAX_ORIGIN_CHARS = 270;
const HTTPS_ORIGIN = /^https:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;

/** Whether a text is an https origin as browsers write it: nothing else may stand in a PAC script. */
export function isPinnable(origin: string): boolean {
  if (origin.length > MAX_ORIGIN_CHARS || !HTTPS_ORIGIN.test(origin)) return false;
  return URL.canParse(origin) && new URL(origin).origin === origin;
}

/**
 * The proxy auto-configuration that sends https requests to pinned origins, told by host and port, through the helper's
 * proxy, or without it where that does not answer; those to trials through it or nowhere; all others without a proxy.
 *
 * Chromium cuts URLs to `https://host[:port]/` before it asks the script, and leaves out the default port.
 *
 * @param serial goes into a comment: a proxy that failed once is tried again only after the script has changed
 * @throws RangeError for what is no port or no https origin
 */
export function pacScript(
  { port, origins, trials }: Pick<Route, 'port' | 'origins' | 'trials'>,
  serial: number,
): string {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new RangeError(`${port} is no port`);
  const wrong = [...origins, ...trials].find((origin) => !isPinnable(origin));
  if (wrong !== undefined) throw new RangeError(`${wrong} is no https origin`);
  return `// ${Math.trunc(serial)}
function FindProxyForURL(url) {
  var end = url.indexOf('/', 8);
  var origin = end < 0 ? url : url.slice(0, end);
  if (${JSON.stringify(trials)}.indexOf(origin) >= 0) return 'PROXY ${PROXY_HOST}:${port}';
  return ${JSON.stringify(origins)}.indexOf(origin) < 0 ? 'DIRECT' : 'PROXY ${PROXY_HOST}:${port}; DIRECT';
}
`;
}
