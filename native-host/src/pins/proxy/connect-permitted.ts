/** The helper's own TCP connections to origins. */
import type { LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import type { AddressSpace } from '@hopwise/contract';
import { AddressRefusedError, explainRefusal } from '../../base/permitted-address.ts';
import { lookUp } from '../../dns/lookup.ts';
import { type HostPort, withoutBrackets } from './authority.ts';
import { connectToFirst } from './happy-eyeballs.ts';

interface ConnectOptions {
  port: number;
  /** Address space on whose behalf the connection is made. */
  from: AddressSpace;
  /** Whether each direction ends by itself, as `node:net` defines it. */
  allowHalfOpen?: boolean;
}

/** Chromium's interval for its own connections, which end at the proxy. */
const KEEP_ALIVE_MS = 45_000;

/**
 * Connects to the first address that answers, among those that may be reached. The addresses that are checked are those that
 * are connected to: a name that changes its address has no effect in between.
 *
 * @throws AddressRefusedError when none may be reached; the error of the last failed attempt; the signal's reason
 */
export async function connectPermitted(
  addresses: readonly LookupAddress[],
  { port, from, allowHalfOpen = false }: ConnectOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const permitted = permittedAddresses(addresses, from);
  const dial = ({ address: host }: LookupAddress): Socket =>
    connect({
      host,
      port,
      allowHalfOpen,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
  return connectToFirst(permitted, dial, signal);
}

/** @throws AddressRefusedError when there are addresses and none may be reached */
export function permittedAddresses(addresses: readonly LookupAddress[], from: AddressSpace): LookupAddress[] {
  const refusals = addresses.map(({ address }) => explainRefusal(address, from));
  const permitted = addresses.filter((_, index) => refusals[index] === '');
  if (permitted.length === 0 && refusals[0]) throw new AddressRefusedError(refusals[0]);
  return permitted;
}

/** Resolves the origin's host and connects as `connectPermitted` does. */
export async function connectToOrigin(
  { host, port, from }: HostPort & Pick<ConnectOptions, 'from'>,
  signal: AbortSignal,
): Promise<Socket> {
  const addresses = await unlessAborted(lookUp(withoutBrackets(host)), signal);
  return connectPermitted(addresses, { port, from }, signal);
}

/** The promise's outcome, or as soon as the signal is aborted its reason as an error. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
