import { siteKey } from '@hopwise/pageload-emulator';

/**
 * The client hint by which servers learn at which rate to begin sending, as Blitz-started QUIC does (Rüth et al.) with the rate
 * that the client announces. Servers ask for it as RFC 8942 (section 3.1) has it for all hints: `Accept-CH: Start-Rate`.
 */
export const START_RATE = 'Start-Rate';

/** Announced rates, Mbit/s: few, so that they do not identify a person. */
const STEPS_MBPS = [1, 2, 5, 10, 20, 50, 100, 200, 500] as const;

/** @param acceptCh value of `Accept-CH`: a list of tokens with optional parameters (RFC 8942, section 3.1) */
export function asksForStartRate(acceptCh: string): boolean {
  return acceptCh
    .split(',')
    .some((item) => item.split(';')[0]!.trim().toLowerCase() === START_RATE.toLowerCase());
}

/**
 * The rate to announce, Mbit/s: the next lower step, because a start above the path's rate loses packets.
 *
 * @returns null for a rate below the lowest step, at which the usual start is as good
 */
export function stepBelow(bps: number): number | null {
  return STEPS_MBPS.findLast((mbps) => mbps * 1e6 <= bps) ?? null;
}

/**
 * The site whose servers may receive hints where a page of a URL asks for them, with its scheme and without a port: RFC 8942 (section 4.1) asks for a
 * secure transport. This machine counts as secure, as in browsers (Secure Contexts, section 3.1).
 */
export function siteForHints(url: string): string | null {
  const { protocol, hostname } = new URL(url);
  const isHere = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
  return protocol === 'https:' || (protocol === 'http:' && isHere) ? `${protocol}//${siteKey(url)}` : null;
}
