import type { Protocol } from '@hopwise/contract';

/**
 * Parses a protocol's name as recorders write it: ALPN ids (`nextHopProtocol`), HAR's `HTTP/2.0`, Firefox's `HTTP/3`,
 * drafts such as `h3-29`, `h2-14` and `http/2+quic/46`, names of libraries' constants such as `HTTP_2_0`.
 *
 * @returns null for no name, which cache entries have, and for unknown names
 */
export function parseProtocol(name: string | null | undefined): Protocol | null {
  if (!name) return null;
  const text = name.trim().toLowerCase();
  if (/^(h3|hq|http[/_ ]?v?3)|quic/.test(text)) return 'h3';
  if (/^(h2(c|-\d+)?$|http[/_ ]?v?2|spdy)/.test(text)) return 'h2';
  if (/^(http[/_ ]?v?[01]|h1$)/.test(text)) return 'h1';
  return null;
}
