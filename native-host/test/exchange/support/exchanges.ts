import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Protocol } from '@hopwise/contract';
import { expect } from 'vitest';
import { type Exchange, ExchangeError, type ExchangeRequest } from '../../../src/exchange/exchange.ts';
import type { Served } from '../../support/engine.ts';

/** What the server's `/digest` says of a request. */
export interface Digest {
  bytes: number;
  whole: boolean;
  digest: string;
  length: number;
  encoding: string[] | null;
  headers: Record<string, string[]>;
  target: string;
  method: string;
}

/** GETs a path of the server, or what `more` says. */
export type Ask = (protocol: Protocol, path: string, more?: Partial<ExchangeRequest>) => Exchange;

export function asking(served: Served): Ask {
  return (protocol, path, more = {}) =>
    served.engine.exchange({
      protocol,
      method: 'GET',
      url: served.server.url(path),
      headers: [],
      body: null,
      ...more,
    });
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export async function digestOf(exchange: Exchange): Promise<Digest> {
  return JSON.parse((await buffer(exchange.body)).toString()) as Digest;
}

/** How an exchange failed. */
export async function failure(exchange: Exchange): Promise<ExchangeError> {
  const fault: unknown = await exchange.trailers.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(fault).toBeInstanceOf(ExchangeError);
  return fault as ExchangeError;
}

/** A body of one piece after the other; `onPiece` hears of each that is taken. */
export function* repeat(piece: Buffer, times: number, onPiece?: () => void): Generator<Buffer> {
  for (let done = 0; done < times; done += 1) {
    onPiece?.();
    yield piece;
  }
}
