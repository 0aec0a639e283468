/** Without the user's allowance nothing is sent to addresses that are not public: through a proxy no browser checks that. */
import type { LookupAddress } from 'node:dns';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AddressSpace, PROTOCOLS } from '@hopwise/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { permittedAddresses } from '../../src/pins/proxy/connect-permitted.ts';
import { LoopbackProxy } from '../../src/pins/proxy/loopback-proxy.ts';
import { asksForCertificate } from '../../src/pins/terminating/client-certificate.ts';
import { TerminatingProxy } from '../../src/pins/terminating/terminating-proxy.ts';
import { failure } from '../exchange/support/exchanges.ts';
import { WatchedPort } from '../support/watched-port.ts';
import { connectHead, type Heard, say, until } from './proxy/support/peers.ts';
import { newAuthority } from './terminating/support/pinned.ts';

const REFUSAL = '127.0.0.1 is a loopback address, which a public page may not reach';
const RESET = { bytes: Buffer.alloc(0), reset: true };

let engine: Engine;
let watched: WatchedPort;

beforeAll(async () => {
  engine = new Engine();
  await engine.start();
});

afterAll(() => engine.close());

beforeEach(async () => {
  watched = await WatchedPort.listen();
});

afterEach(() => watched.close());

function addresses(...texts: string[]): LookupAddress[] {
  return texts.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

describe('a tunnel', () => {
  let proxy: LoopbackProxy;
  let port: number;
  let from: AddressSpace;
  let answer: LookupAddress[];
  let refused: string[];

  beforeEach(async () => {
    from = 'public';
    refused = [];
    answer = [];
    proxy = new LoopbackProxy({
      log: () => {},
      route: () => ({ kind: 'tunnel', from }),
      lookup: async () => answer,
      onAddressRefused: (_host, _port, reason) => refused.push(reason),
    });
    port = await proxy.listen();
  });

  afterEach(() => proxy.close());

  const visit = (): Promise<Heard> => say(port, connectHead(`a.test:${watched.port}`));

  it.each([
    ['127.0.0.1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['64:ff9b::127.0.0.1', 'loopback'],
    ['10.0.0.1', 'local'],
  ])('to %s is reset without a packet to it', async (address, space) => {
    answer = addresses(address);
    expect(await visit()).toEqual(RESET);
    expect(refused).toEqual([`${address} is a ${space} address, which a public page may not reach`]);
    expect(watched.arrivals).toBe(0);
  });

  it('is reset when its name has changed to a local address', async () => {
    expect(await visit()).toEqual(RESET);
    expect(refused).toEqual([]);
    answer = addresses('127.0.0.1');
    expect(await visit()).toEqual(RESET);
    expect(refused).toEqual([REFUSAL]);
    expect(watched.arrivals).toBe(0);
  });

  it('is reset once local addresses are no longer allowed, although the address is cached', async () => {
    answer = addresses('127.0.0.1');
    from = 'loopback';
    await visit();
    expect(watched.arrivals).toBe(1);
    from = 'public';
    expect(await visit()).toEqual(RESET);
    expect(refused).toEqual([REFUSAL]);
    expect(watched.arrivals).toBe(1);
  });
});

it('connects to the public ones among the addresses of a name only', () => {
  const mixed = addresses('127.0.0.1', '9.9.9.9', 'fd00::1', '2620:fe::fe', '64:ff9b::10.0.0.1');
  expect(permittedAddresses(mixed, 'public')).toEqual(addresses('9.9.9.9', '2620:fe::fe'));
  expect(permittedAddresses(mixed, 'loopback')).toEqual(mixed);
  expect(permittedAddresses([], 'public')).toEqual([]);
});

describe.each(PROTOCOLS)('over %s', (protocol) => {
  const ask = (host: string, connectTo?: string): Exchange =>
    engine.exchange({
      protocol,
      method: 'GET',
      url: `https://${host}/`,
      headers: [],
      body: null,
      ...(connectTo && { connectTo }),
    });

  it('a request is refused without a packet', async () => {
    const fault = await failure(ask(`localhost:${watched.port}`, `::127.0.0.1:${watched.port}`));
    expect(fault).toMatchObject({ code: 'local-address', message: REFUSAL, sent: false });
    expect(watched.arrivals).toBe(0);
  });

  it('a request to an IPv6 address is refused', async () => {
    const fault = await failure(ask(`[::1]:${watched.port}`));
    expect(fault).toMatchObject({
      code: 'local-address',
      message: '::1 is a loopback address, which a public page may not reach',
    });
  });

  it('a pin is lifted by its first check', async () => {
    const refused: string[] = [];
    const folder = mkdtempSync(join(tmpdir(), 'hopwise-local-'));
    const { issuer } = await newAuthority(folder);
    const terminating = new TerminatingProxy({
      identifyNetwork: () => null,
      engine,
      issuer,
      log: () => {},
      onLifted: (_host, _port, reason) => refused.push(`another reason: ${reason}`),
      onAddressRefused: (_host, _port, reason) => refused.push(reason),
      onReady: () => {},
      onDoubt: () => {},
      onFallback: () => {},
      onMeasured: () => {},
      isTunnelled: () => false,
    });
    terminating.pin('localhost', watched.port, protocol, 'public');
    await until(() => refused.length > 0);
    expect(refused[0]).toMatch(
      /^(127\.0\.0\.1|::1) is a loopback address, which a public page may not reach$/,
    );
    expect(refused).toHaveLength(1);
    expect(watched.arrivals).toBe(0);
    terminating.close();
    rmSync(folder, { recursive: true });
  });
});

it('asks no local address for its certificate', async () => {
  await asksForCertificate({ host: '127.0.0.1', port: watched.port, from: 'public' }, 1_000);
  expect(watched.arrivals).toBe(0);
  await asksForCertificate({ host: '127.0.0.1', port: watched.port, from: 'loopback' }, 1_000);
  expect(watched.arrivals).toBe(1);
});
