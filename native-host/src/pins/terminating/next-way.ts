/** What becomes of a request that the engine could not carry. */
import type { Protocol } from '@hopwise/contract';
import { type ExchangeErrorCode, isOfHandshake } from '../../exchange/exchange-fault.ts';

/** The nearest other protocol first: what speaks HTTP/3 mostly speaks HTTP/2. */
const OTHERS: Record<Protocol, readonly Protocol[]> = { h1: ['h2'], h2: ['h1'], h3: ['h2', 'h1'] };

/** RFC 9110 section 9.2.2, without TRACE, which is not passed on. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/**
 * No other protocol helps: the certificate is the same, a lost engine would have to be started first, and what it
 * refused it refuses again. The browser's own connection does, or it shows its own error.
 */
const BEYOND_PROTOCOLS = new Set<ExchangeErrorCode>(['certificate', 'engine-died', 'refused-locally']);

export interface FailedAttempt {
  method: string;
  /** Its body may be gone, and is kept nowhere. */
  hasBody: boolean;
  code: ExchangeErrorCode;
  /** Whether a byte of the request may have reached the origin. */
  sent: boolean;
  /** Protocols of the attempts so far, the pinned one first. */
  tried: readonly Protocol[];
}

/** The protocols to fall back on, in order. */
export function otherProtocols(pinned: Protocol): readonly Protocol[] {
  return OTHERS[pinned];
}

/** Whether a request may be sent a second time. */
export function isRepeatable(method: string, sent: boolean): boolean {
  return !sent || IDEMPOTENT.has(method);
}

/**
 * The protocol of the next attempt; `refuse` where the browser is to send it again by itself, `fail` where nobody may or
 * nothing is left. For requests that have no head of a response.
 */
export function nextWay({ method, hasBody, code, sent, tried }: FailedAttempt): Protocol | 'refuse' | 'fail' {
  if (!isRepeatable(method, sent)) return 'fail';
  if (hasBody || BEYOND_PROTOCOLS.has(code)) return 'refuse';
  const pinned = tried[0]!;
  // A connection may end at any time, for instance because the origin was started anew, and in its handshake too.
  const isLost = code === 'reset' || isOfHandshake({ code, sent });
  if (isLost && tried.length === 1) return pinned;
  // An origin that breaks every connection off does so with the browser's as well.
  return otherProtocols(pinned).find((other) => !tried.includes(other)) ?? (sent ? 'fail' : 'refuse');
}
