import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browserProgram } from '@hopwise/lab/browser/browser-program';
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { Lab } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { LoadObserver, navigationStart } from '@hopwise/lab/loads/cdp-observer';
import { observedLoad } from '@hopwise/lab/loads/cdp-recording';
import { processTimes } from '@hopwise/lab/loads/disturbance';
import { type Load, MeasuringBrowser } from '@hopwise/lab/loads/measuring-browser';
import {
  type BrowserProtocol,
  CHROMIUM_ARGS,
  type ProtocolMode,
  protocolArgs,
} from '@hopwise/lab/loads/protocol-args';
import { bundledSite } from '@hopwise/lab/pages/bundled';
import { writeSite } from '@hopwise/lab/sites/write-site';
import { type Assignment, originOf, type Recording } from '@hopwise/pageload-emulator';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { measureUntil } from '../../lab/test/support/attempts.ts';
import { logged } from '../../lab/test/support/lab-log.ts';
import { drawShare } from '../../scripts/suites/draw-share.ts';
import { ExtensionSession } from '../src/start/observe.ts';

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
const urls = page.site.resources.map(({ origin, path }) => origin + path).toSorted();

let folder: string;
let lab: Lab;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-loads-'));
  await writeSite(page, join(folder, 'shop'));
  lab = await Lab.up({ site: join(folder, 'shop'), network });
});
afterEach(async () => {
  for (const browser of open.splice(0)) await browser.close();
});
afterAll(async () => {
  await lab?.down();
  await rm(folder, { recursive: true, force: true });
});

async function launch(
  protocol: BrowserProtocol,
  kind: 'headless-shell' | 'full' = 'headless-shell',
): Promise<MeasuringBrowser> {
  const executablePath = await lab.wrapper(browserProgram(kind));
  const browser = await MeasuringBrowser.launch({ executablePath, protocol, caSpki: lab.caSpki, hosts });
  open.push(browser);
  return browser;
}

async function load(browser: MeasuringBrowser, options: { view?: 'cold' | 'warm' } = {}): Promise<Load> {
  await lab.drain();
  const result = await browser.load(page.site.entry, { timeoutMs: 40_000, ...options });
  if (!result.ok) throw new Error(result.reason);
  return result;
}

interface Entry {
  name: string;
  fetchStart: number;
  domainLookupStart: number;
  domainLookupEnd: number;
  secureConnectionStart: number;
  connectEnd: number;
  requestStart: number;
  responseStart: number;
  responseEnd: number;
  encodedBodySize: number;
  decodedBodySize: number;
  nextHopProtocol: string;
}

/** A recording and, by URL, what Resource Timing says in every frame, relative to the page's navigationStart. */
async function recordedAndTimed(
  browser: Browser,
): Promise<{ recording: Recording; timed: Map<string, Entry> }> {
  const context = await browser.newContext();
  const tab = await context.newPage();
  const session = await context.newCDPSession(tab);
  const observer = await LoadObserver.follow(session);
  await tab.goto(page.site.entry, { waitUntil: 'load' });
  await expect.poll(() => observer.open()).toBe(0);
  const frames = await Promise.all(
    tab.frames().map((frame) =>
      frame.evaluate(() => ({
        timeOrigin: performance.timeOrigin,
        entries: ['navigation', 'resource']
          .flatMap((type) => performance.getEntriesByType(type))
          .map((entry) => entry.toJSON() as Entry & { loadEventEnd: number }),
      })),
    ),
  );
  const [top] = frames as [(typeof frames)[0]];
  const timing = {
    timeOrigin: top.timeOrigin,
    url: tab.url(),
    pltMs: top.entries[0]!.loadEventEnd,
    domContentLoadedMs: 0,
    fcpMs: null,
    lcpMs: null,
  };
  const { recording, failed } = observedLoad(
    observer.hops(),
    timing,
    await navigationStart(session),
    'Chromium',
  );
  expect(failed).toEqual([]);
  const timed = new Map<string, Entry>();
  for (const { timeOrigin, entries } of frames) {
    for (const entry of entries) {
      const moved = { ...entry };
      for (const [key, value] of Object.entries(entry)) {
        const isTime = /(Start|End)$/.test(key) && typeof value === 'number' && value > 0;
        if (isTime) Object.assign(moved, { [key]: value + timeOrigin - top.timeOrigin });
      }
      timed.set(entry.name, moved);
    }
  }
  return { recording, timed };
}

/** Times of a recording that are not those of Resource Timing, in words. */
function timesThatDiffer({ requests }: Recording, timed: Map<string, Entry>): string[] {
  return requests
    .filter(({ type }) => type !== 'other')
    .flatMap(({ url, startMs, endMs, phases }) => {
      const entry = timed.get(url);
      if (!entry) return [`${url} is not in Resource Timing`];
      // Its clock is coarse (0.1 ms), and processes report the Unix time of their start.
      const tolerance = entry.name.includes('widget') ? 3 : 0.3;
      const pairs: [string, number | null, number, number][] = [
        ['start', startMs, entry.fetchStart, 10],
        ['requestStart', phases.requestStartMs, entry.requestStart, tolerance],
        ['responseStart', phases.responseStartMs, entry.responseStart, tolerance],
        ['end', endMs, entry.responseEnd, tolerance],
      ];
      if (phases.dnsStartMs !== null) {
        pairs.push(
          ['domainLookupStart', phases.dnsStartMs, entry.domainLookupStart, tolerance],
          ['domainLookupEnd', phases.dnsEndMs, entry.domainLookupEnd, tolerance],
        );
      }
      if (phases.connectStartMs !== null) {
        pairs.push(
          ['secureConnectionStart', phases.secureStartMs, entry.secureConnectionStart, tolerance],
          ['connectEnd', phases.connectEndMs, entry.connectEnd, tolerance],
        );
      }
      return pairs.flatMap(([name, recorded, resourceTiming, most]) =>
        recorded !== null && Math.abs(recorded - resourceTiming) < most
          ? []
          : [`${name} of ${url}: ${recorded} recorded, ${resourceTiming} in Resource Timing`],
      );
    });
}

describe('a recording made from the DevTools protocol', () => {
  it.each(drawShare(['h1', 'h2', 'h3', 'natural'] as const, 2))(
    'has the phases, sizes and protocols of Resource Timing under %s, in every frame and process',
    async (protocol) => {
      const browser = await chromium.launch({
        executablePath: await lab.wrapper(browserProgram('full')),
        args: [
          ...protocolArgs(protocol, hosts),
          ...CHROMIUM_ARGS,
          `--ignore-certificate-errors-spki-list=${lab.caSpki}`,
        ],
      });
      open.push(browser);
      // A process that is delayed between two readings of a clock reports times that differ by the delay.
      const { recording, timed, entries } = await measureUntil(
        async () => {
          await lab.log();
          const both = await recordedAndTimed(browser);
          return { ...both, entries: await logged(lab, urls.length) };
        },
        ({ recording, timed }) => timesThatDiffer(recording, timed).length === 0,
      );
      expect(timesThatDiffer(recording, timed)).toEqual([]);
      const page = recording.requests.filter(({ type }) => type !== 'other');
      expect(page.map(({ url }) => url).toSorted()).toEqual(urls);
      const served = new Map<string, Set<number>>();
      for (const request of page) {
        const entry = timed.get(request.url)!;
        expect(entry, request.url).toBeDefined();
        expect(request.decodedBytes).toBe(entry.decodedBodySize);
        // With the frames of HTTP/2 and 3 around it.
        expect(request.bodyBytes! - entry.encodedBodySize).toBeGreaterThanOrEqual(0);
        expect(request.bodyBytes! - entry.encodedBodySize).toBeLessThan(200 + entry.encodedBodySize * 0.01);
        expect(entry.nextHopProtocol).toBe({ h1: 'http/1.1', h2: 'h2', h3: 'h3' }[request.protocol!]);
        expect(request.remoteIp).toMatch(/^198\.19\./);
        const server = entries.find(({ origin, path }) => origin + path === request.url)!;
        const id = request.connectionId!;
        served.set(id, (served.get(id) ?? new Set()).add(server.connection));
      }
      // A connection of the browser's is one of the server's.
      expect([...served.values()].every(({ size }) => size === 1)).toBe(true);
      expect(served.size).toBe(new Set([...served.values()].flatMap((ids) => [...ids])).size);
      // A connection opens once.
      const opened = page.filter(({ phases }) => phases.connectStartMs !== null);
      expect(new Set(opened.map(({ connectionId }) => connectionId)).size).toBe(opened.length);
      const frame = page.find(({ type }) => type === 'iframe')!;
      const inFrame = page.filter(({ initiator }) => initiator.requestId === frame.id);
      expect(inFrame.length).toBeGreaterThan(0);
    },
  );

  it('names who asked, the urgency and what blocks rendering', async () => {
    const { recording, ...measured } = await load(await launch('h2'));
    const { requests } = recording!;
    expect(recording).toMatchObject({ url: page.site.entry, pltMs: measured.pltMs });
    expect(recording!.firstContentfulPaintMs).toBe(measured.fcpMs);
    expect(measured.fcpMs).toBeGreaterThan(0);
    expect(measured.lcpMs).toBeGreaterThanOrEqual(measured.fcpMs!);
    expect(recording!.domContentLoadedMs).toBeGreaterThan(0);
    expect(requests[0]).toMatchObject({
      type: 'document',
      initiator: { kind: 'navigation', requestId: null },
      urgency: 0,
      offersH3: true,
    });
    for (const request of requests.slice(1)) {
      const asker = requests[request.initiator.requestId!]!;
      expect(asker, request.url).toBeDefined();
      expect(asker.startMs).toBeLessThanOrEqual(request.startMs);
    }
    for (const font of requests.filter(({ type }) => type === 'font')) {
      expect(font.initiator.kind).toBe('style');
      expect(requests[font.initiator.requestId!]!.type).toBe('style');
    }
    const kinds = new Set(requests.map(({ initiator }) => initiator.kind));
    expect(kinds).toEqual(new Set(['navigation', 'parser', 'style', 'script']));
    expect(requests.filter(({ type }) => type === 'style').every((style) => style.renderBlocking)).toBe(true);
  });
});

describe('a natural load', () => {
  it('is recorded as the extension records one', async () => {
    const mine = (await load(await launch('natural', 'full'))).recording!;
    await lab.drain();
    const session = await ExtensionSession.open({
      executablePath: await lab.wrapper(chromiumPath()),
      ca: { file: lab.caFile, spki: lab.caSpki, hosts },
      headed: false,
    });
    open.push(session);
    const { recording: theirs } = await session.observe(page.site.entry, { timeoutMs: 40_000 });
    const loaded = (recording: Recording) => recording.requests.filter(({ type }) => type !== 'other');
    const byUrl = new Map(loaded(theirs).map((request) => [request.url, request]));
    expect(
      loaded(mine)
        .map(({ url }) => url)
        .toSorted(),
    ).toEqual([...byUrl.keys()].toSorted());
    const askerOf = (recording: Recording, id: number | null) => recording.requests[id ?? -1]?.url;
    let sameAsker = 0;
    for (const request of loaded(mine)) {
      const other = byUrl.get(request.url)!;
      expect(request.type, request.url).toBe(other.type);
      expect([request.status, request.remoteIp, request.fromCache]).toEqual([
        other.status,
        other.remoteIp,
        other.fromCache,
      ]);
      expect(request.decodedBytes).toBe(other.decodedBytes);
      // The extension knows the body alone, to which Resource Timing adds 300 bytes; here are the frames and headers that came.
      expect(Math.abs(request.transferBytes! - other.transferBytes!)).toBeLessThan(
        300 + other.transferBytes! / 100,
      );
      if (askerOf(mine, request.initiator.requestId) === askerOf(theirs, other.initiator.requestId))
        sameAsker++;
    }
    // The extension cannot see which module of a graph ran, nor which stylesheet of an origin asked another origin.
    expect(sameAsker / byUrl.size).toBeGreaterThan(0.85);
  });
});

describe('an assignment', () => {
  it('puts each origin on its protocol, and is proved origin by origin', async () => {
    const protocols = ['h3', 'h1', 'h2'] as const;
    const assignment: Assignment = Object.fromEntries(
      page.site.origins.map(({ origin }, index) => [origin, protocols[index % 3]!]),
    );
    await lab.offer(assignment);
    try {
      const result = await load(await launch({ assignment }));
      expect(result).toMatchObject({ proved: true, failed: [] });
      for (const { url, protocol } of result.requests) expect(protocol, url).toBe(assignment[originOf(url)!]);
      expect(result.requests.map(({ url }) => url).toSorted()).toEqual(urls);
      const wrong = { ...assignment, [page.site.origins[1]!.origin]: 'h2' as const };
      expect(await load(await launch({ assignment: wrong }))).toMatchObject({ ok: true, proved: false });
    } finally {
      await lab.offer(null);
    }
  });
});

describe('a repeat view', () => {
  it.each(drawShare(['h2', 'h3'] as const, 1))(
    'is the second view in one context under %s',
    async (protocol: ProtocolMode) => {
      const browser = await launch(protocol);
      const closeConnections = () => lab.serve(join(folder, 'shop'));
      for (const betweenViews of [undefined, closeConnections]) {
        await lab.log();
        const between: number[] = [];
        const result = await browser.load(page.site.entry, {
          timeoutMs: 40_000,
          view: 'warm',
          async betweenViews() {
            between.push((await logged(lab, urls.length)).length);
            await betweenViews?.();
          },
        });
        expect(result).toMatchObject({ ok: true, proved: true });
        expect(between).toHaveLength(1);
        const { requests } = (result as Load).recording!;
        const cached = requests.filter(({ fromCache }) => fromCache);
        const entries = await logged(lab, requests.length - cached.length);
        expect(entries.length).toBe(requests.length - cached.length);
        const opened = requests.filter(({ phases }) => phases.connectStartMs !== null);
        expect(cached.length).toBeGreaterThan(urls.length / 2);
        for (const { phases, protocol, transferBytes } of cached) {
          expect([protocol, transferBytes, phases.requestStartMs]).toEqual([null, 0, null]);
        }
        if (betweenViews === undefined) expect(opened).toEqual([]);
        else {
          expect(opened.length).toBeGreaterThan(0);
          // The servers were closed and opened again, and their clients' sessions are still good.
          expect(entries.filter(({ resumed }) => !resumed)).toEqual([]);
        }
      }
    },
  );
});

describe('a repeat view that the cache answers whole', () => {
  it('proves nothing', async () => {
    const { origin } = page.site.origins[0]!;
    const dir = join(folder, 'cached');
    const headers = { 'content-type': 'text/html', 'cache-control': 'max-age=3600' };
    await writeSite(
      {
        site: {
          format: 'hopwise-site',
          version: 1,
          name: 'cached',
          entry: `${origin}/`,
          origins: [{ origin, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 }],
          resources: [{ origin, path: '/', status: 200, headers, body: { file: 'a.html' }, thinkMs: 0 }],
        },
        files: new Map([['a.html', new TextEncoder().encode('<!doctype html><title>A</title>A')]]),
      },
      dir,
    );
    await lab.serve(dir);
    try {
      const browser = await launch('h2');
      const views = ['cold', 'warm'] as const;
      const proved = [];
      for (const view of views) {
        const result = (await browser.load(`${origin}/`, { timeoutMs: 20_000, view })) as Load;
        proved.push([result.requests.length, result.requests[0]!.fromCache, result.proved]);
      }
      expect(proved).toEqual([
        [1, false, true],
        [1, true, false],
      ]);
    } finally {
      await lab.serve(join(folder, 'shop'));
    }
  });
});

describe("a load's moments", () => {
  it('are reported for the measured view: right before its navigation, and when its load event is over', async () => {
    const browser = await launch('h2');
    for (const view of ['cold', 'warm'] as const) {
      const moments: [string, number][] = [];
      const note = (what: string) => async () => void moments.push([what, performance.now()]);
      /** Milliseconds between the two moments of the measured view, and its PLT. */
      const measure = async (): Promise<[number, number]> => {
        moments.length = 0;
        const { pltMs } = (await browser.load(page.site.entry, {
          timeoutMs: 40_000,
          view,
          betweenViews: note('between'),
          onNavigation: note('navigation'),
          onLoadEvent: note('load'),
        })) as Load;
        const [begin, end] = moments.slice(-2).map(([, at]) => at) as [number, number];
        return [end - begin, pltMs];
      };
      const [windowMs, pltMs] = await measureUntil(measure, ([ms, plt]) => ms < plt + 300);
      expect(moments.map(([what]) => what)).toEqual([
        ...(view === 'warm' ? ['between'] : []),
        'navigation',
        'load',
      ]);
      expect(windowMs).toBeGreaterThanOrEqual(pltMs - 1);
      expect(windowMs).toBeLessThan(pltMs + 300);
    }
    const failing = async () => {
      throw new RangeError('mine');
    };
    for (const moment of ['onNavigation', 'onLoadEvent'] as const)
      await expect(browser.load(page.site.entry, { timeoutMs: 40_000, [moment]: failing })).rejects.toThrow(
        new RangeError('mine'),
      );
  });
});

describe('a browser that fails', () => {
  it.each(drawShare([0, 150, 700, 1500], 1))(
    'is reported when its process ends %d ms after the load began, and soon',
    async (afterMs) => {
      const browser = await launch('h2');
      await lab.configure({ ...network, downMbps: 1 });
      let killing: NodeJS.Timeout | undefined;
      try {
        const started = performance.now();
        const loading = browser.load(page.site.entry, { timeoutMs: 40_000 });
        killing = setTimeout(() => process.kill(browser.pids()[0]!, 'SIGKILL'), afterMs);
        expect(await loading).toMatchObject({ ok: false, kind: 'browser' });
        // Not only when the time of the load is over.
        expect(performance.now() - started).toBeLessThan(30_000);
        expect(await browser.load(page.site.entry, { timeoutMs: 40_000 })).toMatchObject({
          ok: false,
          kind: 'browser',
        });
      } finally {
        clearTimeout(killing);
        await lab.configure(network);
      }
    },
  );

  it("is reported when the page's process ends, and makes the next load anyway", async () => {
    const browser = await launch('h2');
    await lab.drain();
    await lab.configure({ ...network, downMbps: 1 });
    await lab.resetStats();
    try {
      const loading = browser.load(page.site.entry, { timeoutMs: 40_000 });
      // The document has come, and more than a megabyte is to follow.
      const received = async () => (await lab.stats()).down.deliveredBytes;
      await expect.poll(received).toBeGreaterThan(100_000);
      for (const pid of renderersOf(browser.pids()[0]!)) process.kill(pid, 'SIGKILL');
      expect(await loading).toEqual({ ok: false, kind: 'browser', reason: "the page's process crashed" });
    } finally {
      await lab.configure(network);
    }
    expect(await load(browser)).toMatchObject({ ok: true, proved: true });
  });
});

function renderersOf(browser: number): number[] {
  const { processes } = processTimes();
  const isBelow = (pid: number): boolean =>
    pid === browser || (processes.has(pid) && isBelow(processes.get(pid)!.parent));
  return [...processes.keys()].filter(
    (pid) => isBelow(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--type=renderer'),
  );
}
