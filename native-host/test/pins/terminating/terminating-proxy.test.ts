import { createSecureContext } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TerminatingProxy } from '../../../src/pins/terminating/terminating-proxy.ts';
import { FakeEngine } from './support/fake-engine.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

let engine: FakeEngine;
let proxy: TerminatingProxy;
let isTunnelled: boolean;
let lifted: string[];
/** How many checks have been answered, or have failed. */
let ended: number;

beforeEach(() => {
  vi.useFakeTimers();
  engine = new FakeEngine();
  isTunnelled = true;
  lifted = [];
  ended = 0;
  proxy = new TerminatingProxy({
    engine: Object.assign(engine, { release: () => {} }),
    issuer: { contextFor: () => createSecureContext(), listHosts: () => ['a.test'] },
    identifyNetwork: () => null,
    asksForCertificate: async () => false,
    isTunnelled: () => isTunnelled,
    log: () => {},
    onLifted: (_host, _port, reason) => lifted.push(reason),
    onAddressRefused: () => {},
    onReady: () => {},
    onDoubt: () => {},
    onFallback: () => {},
    onMeasured: () => {},
  });
});

afterEach(() => {
  proxy.close();
  vi.useRealTimers();
});

/** Lets time pass while no connection to the origin can be made. @returns how many times it was checked over HTTP/3 */
async function passInVain(ms: number): Promise<number> {
  const from = ended;
  for (let passedMs = 0; passedMs <= ms; passedMs += SECOND_MS) {
    await vi.advanceTimersByTimeAsync(passedMs === 0 ? 0 : SECOND_MS);
    for (; ended < engine.exchanges.length; await vi.advanceTimersByTimeAsync(0))
      engine.exchanges[ended++]!.fail('timeout');
  }
  return engine.exchanges.slice(from).filter(({ request }) => request.protocol === 'h3').length;
}

describe('an origin whose first check was in vain', () => {
  beforeEach(async () => {
    proxy.pin('a.test', 443, 'h3');
    expect(await passInVain(0)).toBe(1);
  });

  it('is checked again while a tunnel to it stays open, less and less often, until it answers', async () => {
    expect(await passInVain(9 * SECOND_MS)).toBe(0);
    expect(await passInVain(SECOND_MS)).toBe(1);
    // After 20, 40, 80 and 160 s more.
    expect(await passInVain(5 * MINUTE_MS)).toBe(4);
    expect(await passInVain(60 * MINUTE_MS)).toBe(12);
    while (ended === engine.exchanges.length) await vi.advanceTimersByTimeAsync(SECOND_MS);
    engine.exchanges[ended++]!.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(await passInVain(60 * MINUTE_MS)).toBe(0);
    expect(lifted).toEqual([]);
  });

  it('is left alone once nothing leads to it, until the next CONNECT', async () => {
    isTunnelled = false;
    expect(await passInVain(60 * MINUTE_MS)).toBe(0);
    isTunnelled = true;
    expect(proxy.routeConnect('a.test', 443)).toMatchObject({ kind: 'tunnel' });
    expect(await passInVain(10 * SECOND_MS)).toBe(2);
  });

  it('is left alone once it is no longer pinned', async () => {
    proxy.unpin('a.test', 443);
    expect(await passInVain(60 * MINUTE_MS)).toBe(0);
  });
});
