import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { drawCells } from '../../src/gauntlet/cells.ts';
import { drawnSite } from '../../src/gauntlet/command.ts';
import { drawNetwork, drawUdpKind, NETWORK_RANGES } from '../../src/gauntlet/draw-network.ts';
import { drawPage } from '../../src/gauntlet/draw-page.ts';
import { EXTRA_RTT_MS, INITIAL_WINDOWS, serversOn } from '../../src/gauntlet/draw-servers.ts';
import { FAMILIES } from '../../src/gauntlet/families.ts';
import { knownPage, readKnownPages, writeKnownPages } from '../../src/gauntlet/known-pages.ts';
import { drawRecordedPage, splitOfFile } from '../../src/gauntlet/recorded-page.ts';
import { drawFrom, OWNERS, type Range, randomFor, SPLITS, type Split } from '../../src/gauntlet/splits.ts';
import { expectedMs } from '../../src/matrix/measure-plan.ts';
import { siteJson } from '../../src/sites/write-site.ts';
import { everything } from '../support/recordings.ts';

const COUNT = 200;
const SLOTS = 48;

/** The split that draws `value` from the range. */
function ownerOf(value: number, [low, high]: Range): Split {
  const slot = Math.floor((Math.log(value / low) / Math.log(high / low)) * SLOTS);
  return OWNERS[Math.min(SLOTS - 1, Math.max(0, slot)) % OWNERS.length]!;
}

describe('drawFrom', () => {
  it.each(SPLITS)('draws for %s only from its own slots, over the whole range', (split) => {
    const random = randomFor('test', split);
    const values = Array.from({ length: 2000 }, () => drawFrom(random, split, [5, 400]));
    expect(values.every((value) => value >= 5 && value < 400 && ownerOf(value, [5, 400]) === split)).toBe(
      true,
    );
    // Slots of log-width ln(80) / 48: an owner of every fourth begins at most three slots from each end.
    expect(Math.min(...values)).toBeLessThan(5 * 80 ** (4 / 48));
    expect(Math.max(...values)).toBeGreaterThan(400 / 80 ** (4 / 48));
  });

  it('gives half of the range to training and a quarter to each other split', () => {
    const owners = Array.from({ length: 480 }, (_, step) => ownerOf(80 ** ((step + 0.5) / 480), [1, 80]));
    const shareOf = (split: Split) => owners.filter((owner) => owner === split).length / 480;
    expect(SPLITS.map(shareOf)).toEqual([0.5, 0.25, 0.25]);
  });
});

describe('drawn networks and pages', () => {
  it('belong to one split by every figure of the network', () => {
    for (const split of SPLITS) {
      const random = randomFor('networks', split);
      for (let draw = 0; draw < COUNT; draw++) {
        const { rttMs, downMbps, loss, lossBurst, udp, udpLoss } = drawNetwork(
          random,
          split,
          drawUdpKind(random),
        );
        // Four digits may round a value over the edge of its slot.
        const owners = (value: number, range: readonly [number, number]) =>
          [value * 0.999, value, value * 1.001].map((near) => ownerOf(near, range));
        expect(owners(rttMs, NETWORK_RANGES.rttMs)).toContain(split);
        expect(owners(downMbps, NETWORK_RANGES.downMbps)).toContain(split);
        if (loss > 0) expect(owners(loss, NETWORK_RANGES.loss)).toContain(split);
        if (lossBurst > 1) expect(owners(lossBurst, NETWORK_RANGES.lossBurst)).toContain(split);
        if (udpLoss !== undefined) expect(owners(udpLoss, NETWORK_RANGES.udpLoss)).toContain(split);
        if (typeof udp === 'object')
          expect(owners(udp.policedMbps, NETWORK_RANGES.policedMbps)).toContain(split);
      }
    }
  });

  it('have families and initial windows of their split only', () => {
    const names = SPLITS.flatMap((split) => FAMILIES[split].map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    const windows = SPLITS.flatMap((split) => INITIAL_WINDOWS[split]);
    expect(new Set(windows).size).toBe(windows.length);
    for (const split of SPLITS) {
      for (let number = 0; number < 20; number++) {
        const { family, origins } = drawPage(split, 1, number);
        expect(FAMILIES[split].map(({ name }) => name)).toContain(family);
        for (const { extraRttMs, initialWindow } of origins) {
          expect([10, ...INITIAL_WINDOWS[split]]).toContain(initialWindow);
          if (extraRttMs > 0)
            expect(
              [extraRttMs - 0.05, extraRttMs + 0.05].map((near) => ownerOf(near, EXTRA_RTT_MS)),
            ).toContain(split);
        }
      }
    }
  });

  it('draw every structure that is known to mislead readers', () => {
    const pages = Array.from({ length: 40 }, (_, number) => drawPage('train', 1, number));
    const has = (test: (node: (typeof pages)[number]['nodes'][number]) => boolean) =>
      pages.some(({ nodes }) => nodes.some(test));
    expect(
      has(({ type, means, parent }) => type === 'image' && means === 'script' && parent?.type === 'script'),
    ).toBe(true);
    expect(has(({ type, delayMs }) => type === 'script' && delayMs >= 50)).toBe(true);
    expect(has(({ type, bytes }) => type === 'document' && bytes > 200 * 1024)).toBe(true);
    expect(has(({ type, means }) => type === 'font' && means === 'style')).toBe(true);
    expect(has(({ type }) => type === 'iframe')).toBe(true);
    expect(has(({ connectsTo = [] }) => connectsTo.length > 0)).toBe(true);
    expect(has(({ after }) => after?.type === 'fetch')).toBe(true);
    const fans = pages.map(({ nodes }) => nodes.filter(({ type }) => type === 'fetch').length);
    expect(Math.max(...fans)).toBeGreaterThanOrEqual(30);
  });
});

it('has servers of nginx follow priorities, and differ in nothing else', () => {
  const servers = Array.from({ length: 20 }, (_, number) => drawPage('train', 1, number).origins).flat();
  expect(servers.some(({ priorities }) => priorities === 'ignored')).toBe(true);
  expect(serversOn('nginx-quiche', servers)).toEqual(
    servers.map((server) => ({ ...server, priorities: 'honoured' })),
  );
  expect(serversOn('go', servers)).toEqual(servers);
});

describe('drawCells', () => {
  it('gives the same cells for the same seed, and keeps them when more are asked for', () => {
    const few = drawCells('validation', 4, 5);
    const more = drawCells('validation', 4, 9);
    expect(more.slice(0, 5)).toEqual(few);
    expect(few.map(({ name }) => name)).toEqual([
      'validation-4-0000-1',
      'validation-4-0000-2',
      'validation-4-0001-1',
      'validation-4-0001-2',
      'validation-4-0002-1',
    ]);
    expect(drawCells('validation', 5, 1)[0]?.network).not.toEqual(few[0]?.network);
  });

  it('draws no cell whose load would take long', () => {
    for (const { page, network } of drawCells('train', 1, 40)) {
      const bytes = page.nodes.reduce((sum, node) => sum + node.bytes, 0);
      expect(expectedMs({ protocol: 'h2', view: 'cold' }, bytes, network)).toBeLessThanOrEqual(5000);
    }
  });
});

describe('drawnSite', () => {
  it('serves each request of the page once, the same bytes for the same seed', () => {
    const page = drawPage('test', 1, 3);
    const { site } = drawnSite(page);
    expect(site.resources.map(({ origin, path }) => origin + path)).toEqual(page.nodes.map(({ url }) => url));
    expect(siteJson(drawnSite(drawPage('test', 1, 3)).site)).toBe(siteJson(site));
  });
});

describe('knownPage', () => {
  it('names the cause of each request', () => {
    const page = drawPage('train', 1, 1);
    const known = knownPage(page);
    expect(known.requests[0]).toMatchObject({
      url: 'https://www.gauntlet.test/',
      parent: null,
      means: 'navigation',
    });
    const urls = new Set(known.requests.map(({ url }) => url));
    for (const { parent, blockers } of known.requests.slice(1)) {
      expect(urls).toContain(parent);
      for (const blocker of blockers) expect(urls).toContain(blocker);
    }
    // A tag runs once the parser has passed the scripts that block it, and these wait for the styles.
    const made = page.nodes.find(
      ({ means, parent }) =>
        means === 'script' && parent?.blocksParser === false && parent.parent === page.nodes[0],
    );
    const before = page.nodes.filter(
      ({ type, blocksParser, parent }) => parent === page.nodes[0] && (type === 'style' || blocksParser),
    );
    expect(before.some(({ blocksParser }) => blocksParser)).toBe(true);
    expect(known.requests[made!.request.id]?.blockers.toSorted()).toEqual(
      before.map(({ url }) => url).toSorted(),
    );
    const answered = page.nodes.find(({ after }) => after !== null);
    if (answered)
      expect(known.requests[answered.request.id]).toMatchObject({
        parent: answered.after?.url,
        means: 'answer',
      });
  });
});

describe('writeKnownPages', () => {
  it('adds pages to a folder, and refuses one of another split or of other servers', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hopwise-known-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    const known = { format: 'hopwise-gauntlet', version: 1, split: 'train', seed: 1, stack: 'go' } as const;
    const [first, second] = [1, 2].map((number) => knownPage(drawPage('train', 1, number)));
    await writeKnownPages(dir, { ...known, pages: { first: first! } });
    await writeKnownPages(dir, { ...known, pages: { second: second! } });
    expect(Object.keys((await readKnownPages(dir))!.pages)).toEqual(['first', 'second']);
    await expect(writeKnownPages(dir, { ...known, split: 'test', pages: {} })).rejects.toThrow(
      /: its loads are of --split train --seed 1: use another folder$/,
    );
    await expect(writeKnownPages(dir, { ...known, stack: 'nginx-quiche', pages: {} })).rejects.toThrow(
      /: its loads are of other servers \(go\): use another folder$/,
    );
  });
});

describe('recorded pages', () => {
  it('belong to one split by name', () => {
    const names = Array.from({ length: 400 }, (_, index) => `page-${index}.har`);
    const counts = SPLITS.map(
      (split) => names.filter((name) => splitOfFile(`/any/${name}`) === split).length,
    );
    expect(counts.reduce((a, b) => a + b)).toBe(400);
    // Half, a quarter and a quarter of 400, give or take four standard deviations.
    expect(Math.abs(counts[0]! - 200)).toBeLessThan(40);
    expect(Math.abs(counts[1]! - 100)).toBeLessThan(35);
  });

  it('have the structure of the recording on drawn servers', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hopwise-recorded-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    const file = join(dir, 'Every thing.json');
    await writeFile(file, JSON.stringify(everything));
    const page = await drawRecordedPage('train', 1, file);
    expect(page.name).toBe('train-1-every-thing');
    expect(page.origins[0]).toMatchObject({ origin: page.nodes[0]?.origin, extraRttMs: 0 });
    const { site } = drawnSite(page);
    expect(site.resources).toHaveLength(page.nodes.length);
    const known = knownPage(page);
    expect(known.requests.filter(({ parent }) => parent === null)).toHaveLength(1);
    await expect(drawRecordedPage('train', 1, join(dir, 'none.har'))).rejects.toThrow(
      /none\.har: expected a HAR; there is no such file/,
    );
  });
});
