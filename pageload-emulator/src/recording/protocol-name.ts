import type { Protocol } from '@hopwise/contract';

/**
 * The protocol named by a recording, which writes it in many ways: ALPN ids (`nextHopProtocol`),
 * HAR's `HTTP/2.0`, Firefox's `HTTP/3`, drafts such as `h3-29` and `http/2+quic/46`.
 *
 * @returns null for a blank, a cache entry (`""`), a data URL or anything unknown.
 */
export function parseProtocol(name: string | null | undefined): Protocol | null {
  if (!name) return null;
  const text = name.trim().toLowerCase();
  if (/^(h3|hq|http\/3)|quic/.test(text)) return 'h3';
  if (/^(h2c?$|http\/2|spdy)/.test(text)) return 'h2';
  if (/^(http\/[01]|h1$)/.test(text)) return 'h1';
  return null;
}
