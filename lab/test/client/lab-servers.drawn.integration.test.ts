import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Assignment } from '@hopwise/pageload-emulator';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { LAB_BINARY } from '../../src/client/build.ts';
import { Lab, labObstacle } from '../../src/client/lab.ts';
import type { LabNetwork } from '../../src/client/networks.ts';
import { type Load, MeasuringBrowser } from '../../src/loads/measuring-browser.ts';
import { bundledSite } from '../../src/pages/bundled.ts';
import type { Site } from '../../src/sites/site.ts';
import { writeSite } from '../../src/sites/write-site.ts';
import { measureUntil } from '../support/attempts.ts';
import { FAR, MAIN, OLD, writeTinySite } from '../support/lab-site.ts';
import { check as transfer } from '../support/lab-transfers.ts';

const run = promisify(execFile);
const obstacle = await labObstacle();
if (obstacle) console.warn(`Skipping the tests of the lab's servers: ${obstacle}`);

const NETWORK: LabNetwork = {
  rttMs: 4,
  downMbps: 100,
  upMbps: 100,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 200 },
  udp: 'open',
};

interface Transfer {
  protocol: string;
  status?: number;
  ttfbMs: number;
  altSvc?: string;
  error?: string;
}

async function check(lab: Lab, protocol: 'h1' | 'h2' | 'h3', url: string): Promise<Transfer> {
  const [command, ...rest] = lab.enterCommand([
    LAB_BINARY,
    ...['check', '--ca', lab.caFile, '--protocol', protocol, '--timeout', '9s', url],
  ]);
  return JSON.parse((await run(command as string, rest)).stdout) as Transfer;
}

/** Protocols on which the origin answers. */
async function spoken(lab: Lab, origin: string): Promise<string[]> {
  const checks = (['h1', 'h2', 'h3'] as const).map((protocol) =>
    check(lab, protocol, `${origin}/image.png?n=0`),
  );
  return (await Promise.all(checks)).filter(({ error }) => !error).map(({ protocol }) => protocol);
}

/** Packets that the server sends in each round trip of a large answer on a new connection, as the link counts them. */
async function flights(lab: Lab, url: string): Promise<number[]> {
  const rttMs = 600;
  await lab.drain();
  await lab.configure({ ...NETWORK, rttMs });
  await lab.resetStats();
  let running = true;
  const transfer = check(lab, 'h1', url).finally(() => {
    running = false;
  });
  // Time within which one flight arrives; the next flight needs its acknowledgement first.
  const rounds: number[] = [];
  for (let seen = 0, begun = Number.NEGATIVE_INFINITY; running; await sleep(5)) {
    const { packets } = (await lab.stats()).down;
    if (packets === seen) continue;
    if (performance.now() - begun > 0.8 * rttMs) {
      begun = performance.now();
      rounds.push(0);
    }
    rounds[rounds.length - 1]! += packets - seen;
    seen = packets;
  }
  expect(await transfer).toMatchObject({ status: 200 });
  return rounds;
}

/**
 * Besides the window there is an acknowledgement without data, and BBR's window grows in the handshakes. A busy machine may
 * shift packets into another round: then the connection is repeated.
 */
async function expectInitialWindow(lab: Lab, url: string, window: number): Promise<void> {
  // The TCP handshake's answer, the TLS handshake's, and what follows the request.
  const isRight = ([tcp, , first]: number[]) => tcp === 1 && first! >= window && first! <= window + 5;
  const rounds = await measureUntil(() => flights(lab, url), isRight);
  expect(isRight(rounds), `a window of ${window}, by ${rounds.join(', ')} packets a round trip`).toBe(true);
}

describe.skipIf(obstacle)("the lab's servers", () => {
  let dir: string;
  let lab: Lab;

  /** The tiny site with a large resource on each origin, and servers that differ. */
  beforeAll(async () => {
    dir = await writeTinySite();
    const file = join(dir, 'site.json');
    const site = JSON.parse(await readFile(file, 'utf8')) as Site;
    for (const { origin } of site.origins) {
      site.resources.push({
        origin,
        path: '/large',
        status: 200,
        headers: {},
        body: { filler: 'bytes', bytes: 80_000 },
        thinkMs: 0,
      });
    }
    site.origins = [
      { ...site.origins[0]!, extraRttMs: 0, initialWindow: 30, congestionControl: 'bbr' },
      { ...site.origins[1]!, extraRttMs: 0, thinkMs: 80 },
      { ...site.origins[2]!, initialWindow: 4 },
    ];
    await writeFile(file, JSON.stringify(site));
    lab = await Lab.up({ site: dir, network: NETWORK, server: { congestionControl: 'reno' } });
  });

  afterEach(async () => {
    await lab.configure(NETWORK);
    await lab.serve(dir);
  });

  afterAll(async () => {
    await lab?.down();
    await rm(dir, { recursive: true, force: true });
  });

  test('have the site’s settings, and otherwise the lab’s', () => {
    expect(
      lab.origins.map(({ origin, initialWindow, congestionControl, priorities, thinkMs }) => [
        ...[origin, initialWindow, congestionControl, priorities, thinkMs],
      ]),
    ).toEqual([
      [MAIN, 30, 'bbr', 'honoured', 0],
      [FAR, 10, 'reno', 'honoured', 80],
      [OLD, 4, 'reno', 'honoured', 0],
    ]);
  });

  test('start with their own initial windows, also after a change', async () => {
    const windows = [
      { origin: MAIN, window: 30 },
      { origin: FAR, window: 10 },
      { origin: OLD, window: 4 },
    ];
    for (const { origin, window } of drawShare(windows, 1, (each) => each.origin))
      await expectInitialWindow(lab, `${origin}/large`, window);
    await lab.configureServers({ [FAR]: { initialWindow: 20, thinkMs: 0 } });
    await expectInitialWindow(lab, `${FAR}/large`, 20);
    await lab.serve(dir);
    await expectInitialWindow(lab, `${FAR}/large`, 10);
  });

  test('start at a rate, where the client has room for the window', async () => {
    const roomy = await Lab.up({ site: dir, network: NETWORK, receiveBuffer: 4_000_000 });
    try {
      const window = 150;
      const start = { congestionControl: 'cubic', initialWindow: window } as const;
      const burstOf = async (pacingMbps?: number) => {
        await roomy.configureServers({ [MAIN]: pacingMbps === undefined ? start : { ...start, pacingMbps } });
        await expectInitialWindow(roomy, `${MAIN}/bytes?${4e5}`, window);
        return (await roomy.stats()).down.maxQueueBytes;
      };
      expect(await burstOf()).toBeGreaterThan(100_000);
      // In 1 ms the link drains more than a paced server sends in ten.
      expect(await burstOf(8)).toBeLessThan(50_000);
    } finally {
      await roomy.down();
    }
  });

  test('start at the rate that a client has announced, until its starts have lost packets twice', async () => {
    // A round trip at the rate has 100 packets, the queue 20, and the answer 56.
    const network = { ...NETWORK, rttMs: 150, downMbps: 8, queue: { bytes: 30_000 } };
    const announced = await Lab.up({ site: dir, network, receiveBuffer: 4_000_000 });
    try {
      await announced.configureServers({
        [MAIN]: { startRate: true, initialWindow: 10, congestionControl: 'cubic' },
      });
      const load = async (mbps: number) => {
        await announced.resetStats();
        const [large] = await transfer(announced, '--start-rate', String(mbps), `${MAIN}/large`);
        return { ms: large!.totalMs, drops: (await announced.stats()).down.drops.queue };
      };
      // TCP, TLS and the wait take three round trips. The first connection begins as usual: 10, 20 and 26 packets, 150 ms apart. At the rate, 80 kB
      // take 80 ms. A busy machine only adds to the whole.
      expect((await load(8)).ms).toBeGreaterThan(700);
      const started = await measureUntil(
        () => load(8),
        ({ ms }) => ms < 650,
      );
      expect(started.ms).toBeLessThan(650);
      expect(started.drops).toBe(0);
      // At four times the rate the answer leaves within 20 ms, in which the link drains 20 kB and the queue takes 30 more.
      await load(32);
      const lies = [await load(32), await load(32)];
      expect(Math.min(...lies.map(({ drops }) => drops))).toBeGreaterThan(10);
      expect((await load(32)).drops).toBe(0);
    } finally {
      await announced.down();
    }
  });

  test('wait for the think times of origin and resource', async () => {
    const ttfb = async () => (await check(lab, 'h1', `${FAR}/image.png?n=0`)).ttfbMs;
    const long = await ttfb();
    expect(long).toBeGreaterThan(80 + 2 * NETWORK.rttMs);
    await lab.configureServers({ [FAR]: { thinkMs: 20 } });
    const short = await measureUntil(ttfb, (ms) => ms < 60);
    expect(short).toBeLessThan(60);
    expect(short).toBeGreaterThan(20 + 2 * NETWORK.rttMs);
    // The resource adds 60 ms.
    await lab.configureServers({ [OLD]: { thinkMs: 100 } });
    expect((await check(lab, 'h1', `${OLD}/slow`)).ttfbMs).toBeGreaterThan(160);
  });

  test('change their protocols at once', async () => {
    expect(await spoken(lab, MAIN)).toEqual(['h1', 'h2', 'h3']);
    expect((await check(lab, 'h2', `${MAIN}/`)).altSvc).toContain('h3=');
    await lab.configureServers({ [MAIN]: { protocols: ['h2'] }, [FAR]: { protocols: ['h3'] } });
    expect(await Promise.all([spoken(lab, MAIN), spoken(lab, FAR)])).toEqual([['h2'], ['h3']]);
    expect((await check(lab, 'h2', `${MAIN}/`)).altSvc).toBeUndefined();
    expect(lab.origins.map(({ protocols }) => protocols)).toEqual([['h2'], ['h3'], ['h1']]);
    await lab.serve(dir);
    expect(await spoken(lab, FAR)).toEqual(['h1', 'h2', 'h3']);
    await lab.configureServers({ [MAIN]: { protocols: ['h1', 'h3'] } });
    expect(await spoken(lab, MAIN)).toEqual(['h1', 'h3']);
  });

  test('offer an assignment, and then the site’s protocols again', async () => {
    await lab.offer({ [MAIN]: 'h1', [FAR]: 'h2', [OLD]: 'h1' });
    expect(await Promise.all([spoken(lab, MAIN), spoken(lab, FAR)])).toEqual([['h1'], ['h2']]);
    await lab.offer(null);
    expect(await spoken(lab, MAIN)).toEqual(['h1', 'h2', 'h3']);
    await expect(lab.offer({ [MAIN]: 'h1', [FAR]: 'h2' })).rejects.toThrow(
      `lab: offer: expected a protocol for ${OLD}, got none`,
    );
  });

  test('refuse invalid changes', async () => {
    for (const [change, complaint] of [
      [{ protocols: [] }, `servers: ${MAIN}.protocols: expected at least one of h1, h2, h3`],
      [{ thinkMs: -1 }, `servers: ${MAIN}.thinkMs: expected 0 to 600000, got -1`],
      [{ initialWindow: 5000 }, `servers: ${MAIN}.initialWindow: expected 1 to 1000, got 5000`],
      [{ speed: 3 }, `servers: ${MAIN}: unknown field "speed"`],
      [{ origin: FAR }, `servers: ${MAIN}.origin: cannot change`],
    ] as const) {
      await expect(lab.configureServers({ [MAIN]: change as object })).rejects.toThrow(`lab: ${complaint}`);
    }
    await expect(lab.configureServers({ 'https://else.lab.test': { thinkMs: 1 } })).rejects.toThrow(
      'lab: servers: expected an origin that the lab was started with, got "https://else.lab.test"',
    );
    expect(await spoken(lab, MAIN)).toEqual(['h1', 'h2', 'h3']);
  });
});

const CHROMIUM = obstacle ? '' : chromiumPath();

describe.skipIf(obstacle || !existsSync(CHROMIUM))(
  "Chromium before the lab's servers",
  { timeout: 120_000 },
  () => {
    test('uses each origin’s assigned protocol, and afterwards the site’s', async () => {
      const page = bundledSite('shop');
      const dir = await mkdtemp(join(tmpdir(), 'hopwise-servers-'));
      await writeSite(page, dir);
      const lab = await Lab.up({ site: dir, network: NETWORK });
      try {
        const executablePath = await lab.wrapper(CHROMIUM);
        const origins = page.site.origins.map(({ origin }) => origin);
        const hosts = origins.map((origin) => new URL(origin).host);
        const used = async (load: Promise<unknown>) => {
          const { ok, requests, failed } = (await load) as Load;
          expect({ ok, failed }).toEqual({ ok: true, failed: [] });
          return new Set(requests.map(({ url, protocol }) => `${new URL(url).origin} ${protocol}`));
        };
        for (const first of drawShare([0, 1, 2], 1)) {
          const assignment: Assignment = Object.fromEntries(
            origins.map((origin, i) => [origin, (['h1', 'h2', 'h3'] as const)[(i + first) % 3]!]),
          );
          await lab.offer(assignment);
          const browser = await MeasuringBrowser.launch({
            executablePath,
            protocol: { assignment },
            caSpki: lab.caSpki,
            hosts,
          });
          try {
            const all = await used(browser.load(page.site.entry, { timeoutMs: 20_000 }));
            expect(all).toEqual(new Set(origins.map((origin) => `${origin} ${assignment[origin]}`)));
          } finally {
            await browser.close();
          }
        }
        await lab.offer(null);
        const browser = await MeasuringBrowser.launch({
          executablePath,
          protocol: 'h2',
          caSpki: lab.caSpki,
          hosts,
        });
        try {
          const all = await used(browser.load(page.site.entry, { timeoutMs: 20_000 }));
          expect(all).toEqual(new Set(origins.map((origin) => `${origin} h2`)));
        } finally {
          await browser.close();
        }
      } finally {
        await lab.down();
        await rm(dir, { recursive: true, force: true });
      }
    });

    test('gets urgent responses first, where priorities are honoured', async () => {
      const dir = await mkdtemp(join(tmpdir(), 'hopwise-servers-'));
      const resource = (path: string, type: string, body: Site['resources'][number]['body']) => ({
        origin: MAIN,
        path,
        status: 200,
        headers: { 'content-type': type },
        body,
        thinkMs: 0,
      });
      const images = [0, 1, 2, 3].map((i) => `/${i}.png`);
      const site: Site = {
        format: 'hopwise-site',
        version: 1,
        name: 'priorities',
        entry: `${MAIN}/`,
        origins: [{ origin: MAIN, protocols: ['h2', 'h3'], extraRttMs: 0 }],
        resources: [
          resource('/', 'text/html', { file: 'index.html' }),
          resource('/urgent', 'text/plain', { filler: 'bytes', bytes: 200_000 }),
          ...images.map((path) =>
            resource(path, 'image/png', { filler: 'png', bytes: 300_000, width: 20, height: 20 }),
          ),
        ],
      };
      await writeFile(join(dir, 'site.json'), JSON.stringify(site));
      // The images are well under way when the urgent resource is requested.
      await writeFile(
        join(dir, 'index.html'),
        `<!doctype html><title>Priorities</title>${images.map((path) => `<img src="${path}">`).join('')}
      <script>setTimeout(() => fetch('/urgent').then((answer) => answer.text()), 400)</script>`,
      );
      const lab = await Lab.up({
        site: dir,
        network: { ...NETWORK, rttMs: 40, downMbps: 6, queue: { ms: 100 } },
      });
      try {
        const executablePath = await lab.wrapper(CHROMIUM);
        for (const protocol of drawShare(['h2', 'h3'] as const, 1)) {
          const browser = await MeasuringBrowser.launch({
            executablePath,
            protocol,
            caSpki: lab.caSpki,
            hosts: [new URL(MAIN).host],
          });
          try {
            for (const priorities of ['honoured', 'ignored'] as const) {
              await lab.configureServers({ [MAIN]: { priorities } });
              const shareOf = async () => {
                const load = await browser.load(site.entry, { timeoutMs: 20_000 });
                if (!load.ok) throw new Error(load.reason);
                const ends = load.requests.map(({ endMs }) => endMs);
                const { startMs, endMs } = load.requests.find(({ url }) => url === `${MAIN}/urgent`)!;
                return (endMs - startMs) / (Math.max(...ends) - startMs);
              };
              // It is a fifth of the remaining bytes; taking turns, it would end shortly before the images.
              const isRight = (share: number) => (priorities === 'honoured' ? share < 0.6 : share > 0.75);
              const share = await measureUntil(shareOf, isRight);
              expect(isRight(share), `${protocol}, priorities ${priorities}: ${share}`).toBe(true);
            }
          } finally {
            await browser.close();
          }
        }
      } finally {
        await lab.down();
        await rm(dir, { recursive: true, force: true });
      }
    });
  },
);
