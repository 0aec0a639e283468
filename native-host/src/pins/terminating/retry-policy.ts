/** What happens to a request that the engine could not deliver. */
import type { Protocol } from '@hopwise/contract';
import { type ExchangeErrorCode, isHandshakeFailure } from '../../exchange/exchange-fault.ts';
import { IDEMPOTENT } from '../../exchange/exchange-order.ts';

/** The nearest other protocol first: what speaks HTTP/3 mostly speaks HTTP/2. */
const OTHERS: Record<Protocol, readonly Protocol[]> = { h1: ['h2'], h2: ['h1'], h3: ['h2', 'h1'] };

/**
 * Failures that another protocol does not avoid: the certificate is the same, a crashed engine would have to be started first,
 * and what it refused it refuses again, as it does the origin's addresses. The browser's own connection either works or shows the browser's own error.
 */
const PROTOCOL_INDEPENDENT = new Set<ExchangeErrorCode>([
  'certificate',
  'engine-died',
  'refused-locally',
  'local-address',
]);

export interface FailedAttempt {
  method: string;
  /** Parts of the body may have been consumed; it is not stored. */
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

/** RFC 9110 section 9.2.1: what the origin does not act upon. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The protocol of a second attempt beside one that is still in progress; null where two must not be in progress at once. */
export function secondProtocol(method: string, hasBody: boolean, protocol: Protocol): Protocol | null {
  return SAFE.has(method) && !hasBody ? otherProtocols(protocol)[0]! : null;
}

/** Whether a request may be sent a second time. */
export function isRepeatable(method: string, sent: boolean): boolean {
  return !sent || IDEMPOTENT.has(method);
}

/** A connection may end at any time, during its handshake too, for instance because the origin restarts. */
export function isLostConnection({ code, sent }: Pick<FailedAttempt, 'code' | 'sent'>): boolean {
  return code === 'reset' || isHandshakeFailure({ code, sent });
}

/**
 * The next action for a request without a response head: the protocol of another attempt, `refuse` to have the browser repeat
 * the request itself, or `fail` where it must not be repeated or no option remains.
 */
export function nextAction({
  method,
  hasBody,
  code,
  sent,
  tried,
}: FailedAttempt): Protocol | 'refuse' | 'fail' {
  if (!isRepeatable(method, sent)) return 'fail';
  if (hasBody || PROTOCOL_INDEPENDENT.has(code)) return 'refuse';
  const pinned = tried[0]!;
  if (isLostConnection({ code, sent }) && tried.length === 1) return pinned;
  const other = otherProtocols(pinned).find((each) => !tried.includes(each));
  if (other) return other;
  // An origin that resets every connection resets the browser's as well. What the engine does not accept, the browser may.
  return sent && code !== 'protocol' ? 'fail' : 'refuse';
}
