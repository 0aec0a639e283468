/** While all origins are pinned at once: which of them go through the helper's proxy, and by which of its ports. */
export interface EveryOrigin {
  /** Ports of the proxy: browsers open 32 connections to each. */
  ports: readonly number[];
  /** Origins that the helper cannot reach. */
  exceptions: readonly string[];
  /** Hosts that are left to the browser, with their subdomains, and origins that are so alone. */
  leftSites: readonly string[];
}

/**
 * Finds the port for a URL; 0 for one that goes directly: of another scheme, of a host that is an address or a name of the local
 * network, or of an exception. WebSockets go directly, as they do not use HTTP/3.
 *
 * Chromium's PAC script contains its text, so it must use nothing but its parameters, and no browser's API.
 */
export function findPort(url: string, { ports, exceptions, leftSites }: EveryOrigin): number {
  const [, origin, host] = /^(https:\/\/([^/:?#@[]+)(?::\d+)?)(?:[/?#]|$)/.exec(url) || [];
  if (!origin || !host || !/\.[^.\d][^.]*\.?$/.test(host) || /\.(?:local|localhost)\.?$/.test(host)) return 0;
  if (exceptions.indexOf(origin) >= 0) return 0;
  if (leftSites.some((site) => site === origin || host === site || host.endsWith(`.${site}`))) return 0;
  let hash = 0;
  // The same port for a host each time, so that its connections are used again.
  for (let at = 0; at < host.length; at++) hash = (hash * 31 + host.charCodeAt(at)) % 65_521;
  return ports[hash % ports.length] || 0;
}
