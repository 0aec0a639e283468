import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRecording, RecordingBytes } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { Lab } from '../../src/client/lab.ts';
import type { LabNetwork } from '../../src/client/networks.ts';
import { type Measured, measureProtocols } from '../../src/loads/measure-protocols.ts';
import { type Load, MeasuringBrowser } from '../../src/loads/measuring-browser.ts';
import type { ProtocolMode } from '../../src/loads/protocol-args.ts';
import { bundledSite } from '../../src/pages/bundled.ts';
import { writeSite } from '../../src/sites/write-site.ts';
import { logged } from '../support/lab-log.ts';

const network: LabNetwork = {
  rttMs: 30,
  downMbps: 30,
  upMbps: 10,
  loss: 0,
  lossBurst: 1,
  queue: { bdp: 2 },
  udp: 'open',
};

const page = bundledSite('shop');
const hosts = page.site.origins.map(({ origin }) => new URL(origin).hostname);

let folder: string;
let lab: Lab;
let executablePath: string;
/** Each load is cold, so tests share them. */
const browsers = new Map<ProtocolMode, MeasuringBrowser>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-loads-'));
  await writeSite(page, join(folder, 'shop'));
  lab = await Lab.up({ site: join(folder, 'shop'), network });
  executablePath = await lab.wrapper(chromiumPath());
});

afterAll(async () => {
  for (const browser of browsers.values()) await browser.close();
  await lab?.down();
  await rm(folder, { recursive: true, force: true });
});

async function browserOf(protocol: ProtocolMode): Promise<MeasuringBrowser> {
  const open = browsers.get(protocol);
  if (open !== undefined) return open;
  const browser = await MeasuringBrowser.launch({ executablePath, protocol, caSpki: lab.caSpki, hosts });
  browsers.set(protocol, browser);
  return browser;
}

/** Ten seconds including overhead, on an idle machine; Chromium may give up before. */
const NO_ANSWER = /^no answer for \S+( in 9000 ms$|: .*QUIC)/;

describe('loads in the lab', () => {
  it('proves h1, h2 and h3 for every request of a bundled page', async () => {
    const measured = await measureProtocols({
      browsers: { h1: await browserOf('h1'), h2: await browserOf('h2'), h3: await browserOf('h3') },
      url: page.site.entry,
      loadsPerProtocol: 1,
      timeoutMs: 30_000,
      hooks: { beforeLoad: async () => void (await lab.drain()) },
    });
    for (const protocol of ['h1', 'h2', 'h3'] as const) {
      const { loads, proved } = measured[protocol] as Measured;
      expect(proved, protocol).toBe(1);
      expect(loads[0]?.failed).toEqual([]);
      expect(loads[0]?.requests).toHaveLength(page.site.resources.length);
      expect(loads[0]?.requests.every((request) => request.protocol === protocol)).toBe(true);
    }
  });

  it.each(drawShare(['h1', 'h2', 'h3', 'natural'] as const, 1))(
    'starts each load under %s without state from the last',
    async (protocol) => {
      const browser = await browserOf(protocol);
      const connections: Set<number>[] = [];
      for (let round = 0; round < 2; round++) {
        await lab.log();
        await browser.load(page.site.entry, { timeoutMs: 30_000 });
        const entries = await logged(lab, page.site.resources.length);
        // The last context's knowledge of HTTP/3 is forgotten too.
        const document = entries.find(({ origin, path }) => origin + path === page.site.entry);
        expect(document?.protocol).toBe(protocol === 'natural' ? 'h2' : protocol);
        connections.push(new Set(entries.map(({ connection }) => connection)));
        for (const { origin } of page.site.origins) {
          // Within a load, HTTP/1.1's further connections to a host resume the session of its first.
          const own = entries.filter((entry) => entry.origin === origin);
          expect(
            own.some(({ resumed }) => !resumed),
            origin,
          ).toBe(true);
        }
      }
      expect([...connections[1]!].filter((connection) => connections[0]!.has(connection))).toEqual([]);
    },
  );

  it('lets the browser move to h3 by Alt-Svc under its natural choice', async () => {
    const browser = await browserOf('natural');
    const load = (await browser.load(page.site.entry, { timeoutMs: 30_000 })) as Load;
    const used = new Set(load.requests.map(({ protocol }) => protocol));
    expect(load.requests[0]?.protocol).toBe('h2');
    expect(used).toEqual(new Set(['h2', 'h3']));
  });

  it.each(drawShare(['h1', 'h2', 'h3', 'natural'] as const, 1))(
    'are in Chromium’s own NetLog as in DevTools, under %s',
    async (protocol) => {
      const log = join(folder, `${protocol}.json`);
      const args = [`--log-net-log=${log}`];
      const browser = await MeasuringBrowser.launch({
        executablePath,
        protocol,
        caSpki: lab.caSpki,
        hosts,
        args,
      });
      const load = (await browser.load(page.site.entry, { timeoutMs: 30_000 })) as Load;
      await browser.close();
      const file = new RecordingBytes();
      file.add(await readFile(log));
      const { requests, quicPackets } = parseRecording(file.end((json) => new TextDecoder().decode(json)));
      const recorded = new Map(load.recording!.requests.map((request) => [request.url, request]));
      expect(requests).toHaveLength(recorded.size);
      for (const { url, protocol: used, endMs, bodyBytes, status } of requests) {
        const { protocol: expected, endMs: expectedMs, bodyBytes: expectedBytes } = recorded.get(url)!;
        expect([url, status, used]).toEqual([url, 200, expected]);
        // DevTools counts the headers of HTTP/2's frames as part of bodies.
        expect(Math.abs(bodyBytes! - expectedBytes!), url).toBeLessThan(100 + expectedBytes! / 100);
        expect(Math.abs(endMs - expectedMs), url).toBeLessThan(300);
      }
      if (protocol === 'h3') expect(quicPackets!.sent).toBeGreaterThan(500);
      else if (protocol !== 'natural') expect(quicPackets).toBeUndefined();
    },
  );

  it('finds h3 unavailable where UDP is blocked, within ten seconds a try', async () => {
    const h3 = await browserOf('h3');
    await lab.configure({ ...network, udp: 'blocked' });
    try {
      const started = Date.now();
      const load = await h3.load(page.site.entry, { timeoutMs: 30_000 });
      expect(load).toMatchObject({
        ok: false,
        kind: 'unreachable',
        reason: expect.stringMatching(NO_ANSWER),
      });
      expect(Date.now() - started).toBeLessThan(25_000);
    } finally {
      await lab.configure(network);
    }
  });
});
