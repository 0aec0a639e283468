/**
 * Connects to the first address that answers (RFC 8305). Node's own `autoSelectFamily` ends an attempt when the next one begins, so
 * that a slow host whose last address is dead is never reached; here attempts continue in parallel.
 */
import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';

/** RFC 8305, section 5: the recommended Connection Attempt Delay. */
const ATTEMPT_DELAY_MS = 250;

type Dial = (address: LookupAddress) => Socket;

/** Alternates between the families, beginning with that of the first address (RFC 8305, section 4). */
export function interleaved(addresses: readonly LookupAddress[]): LookupAddress[] {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family);
  const second = addresses.filter(({ family }) => family !== addresses[0]?.family);
  return Array.from({ length: Math.max(first.length, second.length) }, (_, index) => [
    ...first.slice(index, index + 1),
    ...second.slice(index, index + 1),
  ]).flat();
}

/**
 * Resolves with the connected socket, without listeners of this function; all other attempts are ended.
 *
 * @throws the error of the last failed attempt, or the signal's reason.
 */
export function connectToFirst(
  addresses: readonly LookupAddress[],
  dial: Dial,
  signal: AbortSignal,
  attemptDelayMs: number = ATTEMPT_DELAY_MS,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const left = interleaved(addresses);
    const attempts = new Set<Socket>();
    let timer: NodeJS.Timeout | undefined;

    const settle = (winner: Socket | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      left.length = 0;
      for (const attempt of attempts) if (attempt !== winner) attempt.destroy();
      attempts.clear();
    };
    const fail = (fault: unknown): void => {
      settle(null);
      reject(fault);
    };
    const onAbort = (): void => fail(signal.reason);
    const next = (): void => {
      clearTimeout(timer);
      const socket = dial(left.shift()!);
      attempts.add(socket);
      const onError = (fault: Error): void => {
        // An attempt that lost the race may still fail: its error is ignored.
        if (!attempts.delete(socket)) return;
        if (left.length > 0) next();
        else if (attempts.size === 0) fail(fault);
      };
      socket.on('error', onError).once('connect', () => {
        socket.off('error', onError);
        settle(socket);
        resolve(socket);
      });
      if (left.length > 0) timer = setTimeout(next, attemptDelayMs);
    };

    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else if (left.length === 0) fail(new Error('the host has no address'));
    else next();
  });
}
