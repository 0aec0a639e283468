/** With a resolver for DNS over HTTPS, no name is looked up in another way. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROTOCOLS } from '@hopwise/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readDohUrl, settingsFile, writeDohUrl } from '../../src/base/settings.ts';
import { lookUp } from '../../src/dns/lookup.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { failure } from '../exchange/support/exchanges.ts';
import { newAuthority } from '../pins/terminating/support/pinned.ts';
import { hopwiseHost } from '../support/command.ts';
import { DohServer } from '../support/doh-server.ts';
import { WatchedPort } from '../support/watched-port.ts';

let folder: string;
let doh: DohServer;
let engine: Engine;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-doh-'));
  const { issuer, root } = await newAuthority(join(folder, 'authority'));
  process.env.HOPWISE_CA_FILE = join(folder, 'root.pem');
  process.env.XDG_DATA_HOME = join(folder, 'data');
  writeFileSync(process.env.HOPWISE_CA_FILE, root);
  const names = {
    'both.test': ['127.0.0.1', '::1'],
    'v4.test': ['127.0.0.1'],
    'public.test': ['9.9.9.9', '2620:fe::fe'],
  };
  doh = await new DohServer(issuer.contextFor('localhost')!, names).listen();
  writeDohUrl(doh.url);
  engine = new Engine();
  await engine.start();
});

afterAll(async () => {
  await engine.close();
  doh.close();
  delete process.env.HOPWISE_CA_FILE;
  delete process.env.XDG_DATA_HOME;
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  doh.asked.length = 0;
  doh.status = 200;
});

it('finds the addresses of both families, IPv6 first', async () => {
  expect(await lookUp('public.test')).toEqual([
    { address: '2620:fe::fe', family: 6 },
    { address: '9.9.9.9', family: 4 },
  ]);
  expect(doh.asked.sort()).toEqual(['public.test A', 'public.test AAAA']);
});

it('looks up no address', async () => {
  expect(await lookUp('::1')).toEqual([{ address: '::1', family: 6 }]);
  expect(doh.asked).toEqual([]);
});

it('fails for a name that the resolver does not have, without another resolver', async () => {
  await expect(lookUp('localhost')).rejects.toMatchObject({
    // What the proxy leaves to the browser, whose own resolver may have it.
    code: 'ENOTFOUND',
    message: expect.stringContaining('localhost has no address at https://localhost:'),
  });
});

it('fails in one line when the resolver does', async () => {
  doh.status = 503;
  await expect(lookUp('v4.test')).rejects.toThrow(
    /^https:\/\/localhost:\d+ answered a DNS query with status 503$/,
  );
});

describe.each(PROTOCOLS)('over %s', (protocol) => {
  const ask = (url: string, from: 'loopback' | 'public'): Exchange =>
    engine.exchange({ protocol, from, method: 'GET', url, headers: [], body: null });

  it('libcurl connects to the address that the resolver gives, if it may be reached', async () => {
    const watched = await WatchedPort.listen();
    const url = `https://v4.test:${watched.port}/`;
    expect(await failure(ask(url, 'public'))).toMatchObject({ code: 'local-address' });
    expect(watched.arrivals).toBe(0);
    await failure(ask(url, 'loopback'));
    expect(watched.arrivals).toBeGreaterThan(0);
    expect(doh.asked).toContain('v4.test A');
    await watched.close();
  });
});

describe('the command', () => {
  const run = (...words: string[]) => hopwiseHost(join(folder, 'home'), ['resolver', ...words]);

  it('shows, sets and resets the resolver', () => {
    expect(run().out).toBe("resolver: the system's\n");
    expect(run('https://dns.example/dns-query').out).toContain('resolver: https://dns.example/dns-query\n');
    expect(run().out).toBe('resolver: https://dns.example/dns-query\n');
    expect(run('off').out).toContain("resolver: the system's\n");
    expect(run().out).toBe("resolver: the system's\n");
  });

  it.each(['http://dns.example/', 'dns.example', 'https://a:b@dns.example/', 'https://dns.example/#x'])(
    'refuses %s in one line',
    (url) => {
      expect(run(url)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/^hopwise-host: expected a URL such as .+\n$/),
      });
    },
  );
});

it('does not pass over an invalid settings file', () => {
  const url = readDohUrl();
  writeFileSync(settingsFile(), '{"version":1,"dohUrl":"http://dns.example"}');
  expect(readDohUrl).toThrow(`${settingsFile()} is no valid settings file`);
  writeDohUrl(url);
});
