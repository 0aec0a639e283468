import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { quicheObstacle } from '../../src/client/build-quiche.ts';
import { Lab, labObstacle } from '../../src/client/lab.ts';
import { frontPrograms } from '../../src/client/server-stack.ts';
import { MeasuringBrowser } from '../../src/loads/measuring-browser.ts';
import { bundledSite } from '../../src/pages/bundled.ts';
import { writeSite } from '../../src/sites/write-site.ts';
import { logged } from '../support/lab-log.ts';
import { allGone, descendants } from '../support/lab-processes.ts';
import { FAR, MAIN, OLD, writeTinySite } from '../support/lab-site.ts';
import { check, LINK } from '../support/lab-transfers.ts';

const obstacle = (await labObstacle()) ?? (await quicheObstacle());
if (obstacle) console.warn(`Skipping the tests of nginx with quiche: ${obstacle}`);

const NETWORK = { ...LINK, rttMs: 10 };

describe.skipIf(obstacle)('nginx with quiche in the lab', { timeout: 300_000 }, () => {
  let site: string;
  let lab: Lab;

  beforeAll(async () => {
    site = await writeTinySite();
    // Compiling takes longer than a lab may.
    await frontPrograms(site, { log: console.warn });
    lab = await Lab.up({ site, network: NETWORK, stack: 'nginx-quiche' });
  }, 1_800_000);

  afterEach(async () => {
    await lab.serve(site);
    expect((await lab.log()).errors).toEqual([]);
  });

  afterAll(async () => {
    await lab?.down();
    await rm(site, { recursive: true, force: true });
  });

  test('says which stacks serve', () => {
    expect(lab.facts.tcp.stack).toMatch(/^nginx \d+\.\d+/);
    expect(lab.facts.quic).toMatchObject({
      stack: expect.stringMatching(/^quiche \d+\.\d+\.\d+$/),
      congestionControl: 'cubic',
      initialWindow: 10,
      lossFactor: 0.7,
    });
  });

  test('serves every protocol, and logs it by connection', async () => {
    const connections = new Set<number>();
    for (const protocol of ['h1', 'h2', 'h3']) {
      await lab.log();
      const urls = [`${MAIN}/`, `${FAR}/image.png?n=1`, `${MAIN}/none`, `${MAIN}/bytes?1000000`];
      const transfers = await check(lab, '--protocol', protocol, ...urls);
      expect(transfers.map(({ protocol, status }) => [protocol, status])).toEqual(
        [200, 200, 404, 200].map((status) => [protocol, status]),
      );
      expect(transfers[3]!.bytes).toBe(1_000_000);
      const entries = await logged(lab, urls.length);
      expect(entries.map((e) => [e.protocol, e.status])).toEqual(
        [200, 200, 404, 200].map((status) => [protocol, status]),
      );
      for (const { connection } of entries) connections.add(connection);
    }
    expect(connections.size).toBe(12);
  });

  test('offers each origin’s protocols, also after a change', async () => {
    const spoken = async (origin: string) => {
      const answers = await Promise.all(
        ['h1', 'h2', 'h3'].map(
          async (p) => (await check(lab, '--protocol', p, '--timeout', '5s', `${origin}/none`))[0]!,
        ),
      );
      return answers.filter(({ error }) => !error).map(({ protocol }) => protocol);
    };
    expect(await spoken(MAIN)).toEqual(['h1', 'h2', 'h3']);
    expect(await spoken(OLD)).toEqual(['h1']);
    await lab.offer({ [MAIN]: 'h3', [FAR]: 'h2', [OLD]: 'h1' });
    expect([await spoken(MAIN), await spoken(FAR)]).toEqual([['h3'], ['h2']]);
  });

  test('has the settings of each origin', async () => {
    // 400 kB in windows of 10, 20, 40, … packets take 5 round trips; 400 packets of at least 1200 bytes hold it all.
    const rttMs = 200;
    await lab.configure({ ...NETWORK, rttMs, downMbps: 200, queue: { ms: 500 } });
    const timeOf = async () => (await check(lab, '--protocol', 'h3', `${MAIN}/bytes?400000`))[0]!;
    const usual = await timeOf();
    await lab.configureServers({ [MAIN]: { initialWindow: 400 } });
    const roomy = await timeOf();
    await lab.configure(NETWORK);
    expect(usual.totalMs - usual.ttfbMs).toBeGreaterThan(3.5 * rttMs);
    expect(roomy.totalMs - roomy.ttfbMs).toBeLessThan(2 * rttMs);
    const bbr = await Lab.up({
      site,
      network: NETWORK,
      stack: 'nginx-quiche',
      server: { congestionControl: 'bbr' },
    });
    try {
      expect(bbr.facts.quic).toMatchObject({ congestionControl: 'bbr', lossFactor: 0 });
      expect((await check(bbr, '--protocol', 'h3', `${MAIN}/bytes?1000000`))[0]).toMatchObject({
        status: 200,
      });
    } finally {
      await bbr.down();
    }
  });

  test('starts at the rate that a client has announced, and not at one that lost packets twice', async () => {
    // 400 kB are a round trip at the rate, and five in slow start from 10 packets. The queue has 120 kB.
    const rttMs = 200;
    await lab.configure({ ...NETWORK, rttMs, downMbps: 16, queue: { ms: 60 } });
    const load = async (mbps: number) => {
      await lab.resetStats();
      const [transfer] = await check(
        lab,
        ...['--protocol', 'h3', '--start-rate', String(mbps), `${MAIN}/bytes?400000`],
      );
      return { ms: transfer!.totalMs, drops: (await lab.stats()).down.drops.queue };
    };
    await lab.configureServers({ [MAIN]: { startRate: true } });
    // The first connection that announces a rate begins as usual.
    const first = await load(16);
    const started = await load(16);
    expect(started.ms).toBeLessThan(first.ms - 2 * rttMs);
    expect(started.drops).toBe(0);

    // At four times the rate 400 kB leave within 50 ms, in which the link drains 100 kB.
    const lies = [await load(64), await load(64)];
    for (const { drops } of lies) expect(drops).toBeGreaterThan(50);
    const disbelieved = await load(64);
    expect(disbelieved.drops).toBeLessThan(lies[1]!.drops / 4);
    await lab.configure(NETWORK);
  });

  test('ends with the lab', async () => {
    const other = await Lab.up({ site, network: NETWORK, stack: 'nginx-quiche' });
    const family = descendants(process.pid).filter((pid) => !before(lab).includes(pid));
    const names = family.map((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
    expect(names).toEqual(expect.arrayContaining(['nginx', 'hopwise-quiche']));
    const program = family[names.indexOf('hopwise-lab')]!;
    process.kill(program, 'SIGKILL');
    await allGone(family);
    await other.down();
  });

  /** Processes of a lab. */
  function before({ holderPid }: Lab): number[] {
    const parent = descendants(process.pid).find((pid) => descendants(pid).includes(holderPid))!;
    return [parent, ...descendants(parent)];
  }

  test.skipIf(!existsSync(chromiumPath()))('serves a page to Chromium under each protocol', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hopwise-quiche-'));
    const page = bundledSite('shop');
    await writeSite(page, dir);
    const shop = await Lab.up({ site: dir, network: NETWORK, stack: 'nginx-quiche' });
    try {
      const executablePath = await shop.wrapper(chromiumPath());
      for (const protocol of ['h1', 'h2', 'h3'] as const) {
        const browser = await MeasuringBrowser.launch({
          executablePath,
          protocol,
          caSpki: shop.caSpki,
          hosts: shop.hosts,
        });
        try {
          await shop.log();
          const first: Awaited<ReturnType<typeof logged>> = [];
          const load = await browser.load(page.site.entry, {
            timeoutMs: 30_000,
            view: 'warm',
            betweenViews: async () => {
              first.push(...(await logged(shop, page.site.resources.length)));
              await shop.serve(dir);
            },
          });
          expect(load).toMatchObject({ ok: true, failed: [] });
          expect(new Set(first.map((e) => e.protocol))).toEqual(new Set([protocol]));
          expect(first[0]!.resumed ?? false).toBe(false);
          const [document] = await logged(shop, 1);
          expect(document).toMatchObject({ protocol, resumed: true });
        } finally {
          await browser.close();
        }
      }
      expect((await shop.log()).errors).toEqual([]);
    } finally {
      await shop.down();
      await rm(dir, { recursive: true, force: true });
    }
  });
});
