import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { chromiumPath } from '../../src/browser/chromium.ts';
import { Lab } from '../../src/client/lab.ts';
import { type Load, MeasuringBrowser } from '../../src/loads/measuring-browser.ts';
import { siteFromRecording } from '../../src/replay/from-har.ts';
import { writeSite } from '../../src/sites/write-site.ts';
import { everything } from '../support/recordings.ts';
import { serveSite } from '../support/site-server.ts';

describe('structure replay in Chromium', () => {
  it('repeats every recorded request, those before the load event before it', async () => {
    const replay = siteFromRecording(everything, { name: 'everything' });
    const server = await serveSite(replay);
    const browser = await MeasuringBrowser.launch({
      executablePath: chromiumPath(),
      protocol: 'h2',
      caSpki: server.caSpki,
      hosts: server.hosts,
      args: [`--host-resolver-rules=${server.resolverRules}`],
    });
    try {
      const load = (await browser.load(replay.site.entry, { timeoutMs: 20_000 })) as Load;
      expect(load).toMatchObject({ ok: true, proved: true, failed: [] });
      const before = replay.requests.filter(({ beforeLoad }) => beforeLoad).map(({ url }) => url);
      expect(load.requests.map(({ url }) => url).toSorted()).toEqual(before.toSorted());
      const at = (id: number) =>
        load.requests.find(({ url }) => url === replay.requests.find((request) => request.id === id)?.url)!;
      // The chain a.js → b.js → c.js → data → 2.png, each after the end of the one before.
      for (const [parent, child] of [
        [3, 10],
        [10, 11],
        [11, 12],
        [12, 13],
      ] as const) {
        expect(at(child).startMs, `${parent} → ${child}`).toBeGreaterThanOrEqual(at(parent).endMs - 1);
      }
      expect(load.pltMs).toBeGreaterThan(at(13).endMs - 1);
    } finally {
      await browser.close();
      await server.close();
    }
  });

  it('is a site that the lab serves, including under h1 and h3', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hopwise-replay-'));
    const replay = siteFromRecording(everything, { name: 'everything' });
    await writeSite(replay, join(folder, 'site'));
    const lab = await Lab.up({
      site: join(folder, 'site'),
      network: { rttMs: 20, downMbps: 50, upMbps: 10, loss: 0, lossBurst: 1, queue: { bdp: 2 }, udp: 'open' },
    });
    try {
      const executablePath = await lab.wrapper(chromiumPath());
      const hosts = replay.site.origins.map(({ origin }) => new URL(origin).host);
      for (const protocol of drawShare(['h1', 'h3'] as const, 1)) {
        const browser = await MeasuringBrowser.launch({
          executablePath,
          protocol,
          caSpki: lab.caSpki,
          hosts,
        });
        try {
          const load = (await browser.load(replay.site.entry, { timeoutMs: 20_000 })) as Load;
          expect(load, protocol).toMatchObject({ ok: true, proved: true, failed: [] });
          expect(load.requests).toHaveLength(replay.requests.filter(({ beforeLoad }) => beforeLoad).length);
        } finally {
          await browser.close();
        }
      }
      expect((await lab.log()).entries.filter(({ miss }) => miss)).toEqual([]);
    } finally {
      await lab.down();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
