import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { emulateStart } from '../../src/papers/blitz/emulate-start.ts';
import { KeptStarts } from '../../src/papers/blitz/kept-starts.ts';
import { gainsOf } from '../../src/papers/blitz/start-gains.ts';
import { LINKS, STARTS, startWindow } from '../../src/papers/blitz/starts.ts';
import type { Claim, Finding } from '../../src/papers/claim.ts';
import { allClaims } from '../../src/papers/claims.ts';
import { countChoices, type HttpTimes, meanError, objectsMs } from '../../src/papers/econ/http-objects.ts';
import { isHighAtBothEnds, type LossCurve } from '../../src/papers/econ/loss-curves.ts';
import { RIVALS } from '../../src/papers/econ/rivals.ts';
import { countRight, judgeVideo } from '../../src/papers/econ/video-segments.ts';
import { judgeFinding } from '../../src/papers/judge-claim.ts';
import { judge, renderMarkdown } from '../../src/papers/report.ts';

const measured = (value: number, bounds: { min?: number; max?: number }): Finding => ({
  kind: 'measured',
  hopwise: 'a model',
  real: { source: 'kernel', value, ...bounds, bounds: 'stated', text: `${value}` },
});

describe('a verdict', () => {
  it.each([
    [measured(0.9, { min: 0.87 }), 'reproduced'],
    [measured(0.87, { min: 0.87 }), 'reproduced'],
    [measured(0.86, { min: 0.87 }), 'refuted'],
    [measured(0.03, { max: 0.02 }), 'refuted'],
    [{ kind: 'incomparable', reason: 'no logs' }, 'not comparable'],
    [{ kind: 'skipped', reason: 'data not given: --data' }, 'not run'],
  ] as [Finding, string][])('of %j is %s', (finding, verdict) => {
    expect(judgeFinding(finding)).toBe(verdict);
  });

  it('needs a number', () => {
    expect(() => judgeFinding(measured(Number.NaN, { min: 0 }))).toThrow(/expected a value/);
  });
});

it('gives each claim its own id', () => {
  const ids = allClaims().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

const claims = allClaims();

it('writes one short row a claim, with bars escaped, and its evidence folded below', () => {
  const claim = { ...claims[0]!, stated: 'a | b' };
  const judged = [judge(claim, measured(1, { min: 0 }))];
  const markdown = renderMarkdown({ claims, judged, command: 'npm run research -- papers --' });
  expect(markdown.split('\n').filter((line) => line.startsWith('| econ-'))).toEqual([
    '| econ-loss-azure | Figure 3 | a \\| b | reproduced |',
  ]);
  const folded = /<details>\n<summary>[^<]*<\/summary>\n\n(.*)\n\n<\/details>/s.exec(markdown)?.[1];
  expect(folded?.split('\n')).toEqual([
    '- **econ-loss-azure**',
    '  - kernel: 1',
    '  - hopwise: a model',
    '  - holds if stated',
  ]);
});

it('keeps the rows of claims that a run leaves out, in the order of all, and counts their verdicts', () => {
  const [first, second] = claims.filter(({ paper }) => paper === 'econ') as [Claim, Claim];
  const wise = claims.find(({ paper }) => paper === 'wise')!;
  const before = renderMarkdown({
    claims,
    judged: [judge(second, measured(1, { min: 0 })), judge(wise, measured(1, { min: 2 }))],
    command: 'npm run research -- papers --',
  });
  const gone = before
    .replace('| wise-', '| econ-gone | a | b | refuted |\n| wise-')
    .replace('- **wise-', '- **econ-gone**\n  - c\n- **wise-');
  const after = renderMarkdown({
    claims,
    judged: [judge(first, measured(1, { min: 2 }))],
    command: `npm run research -- papers --only ${first.id}`,
    before: gone,
  });
  expect(after).toContain('1 reproduced, 2 refuted, 0 not comparable, 0 not run.');
  const rowsOf = (markdown: string) => markdown.split('\n').filter((line) => /^\| (econ|wise)-/.test(line));
  expect(rowsOf(after).slice(1)).toEqual(rowsOf(before));
  expect(rowsOf(after)[0]).toContain(`| ${first.id} |`);
  const foldedOf = (markdown: string) => markdown.split('\n').filter((line) => /^(- \*\*| {2}- )/.test(line));
  expect(foldedOf(after).slice(4)).toEqual(foldedOf(before));
});

it('reads all of docs/papers.md, which --write renews', () => {
  const before = readFileSync(new URL('../../../docs/papers.md', import.meta.url), 'utf8');
  const command = /Last written by `(.*?)`/.exec(before)![1]!;
  expect(renderMarkdown({ claims, judged: [], command, before })).toBe(before);
});

it('keeps what was found about a claim that a later run could not measure', () => {
  const [first, second] = claims.filter(({ paper }) => paper === 'blitz') as [Claim, Claim];
  const before = renderMarkdown({
    claims,
    judged: [judge(first, measured(1, { min: 0 })), judge(second, measured(1, { min: 0 }))],
    command: 'npm run research -- papers --',
  });
  const skipped = { kind: 'skipped', reason: 'left out' } as const;
  const after = renderMarkdown({
    claims,
    judged: [judge(first, skipped), judge(second, measured(1, { min: 2 }))],
    command: 'npm run research -- papers blitz',
    before,
  });
  expect(after).toContain('1 reproduced, 1 refuted, 0 not comparable, 0 not run.');
  expect(after).not.toContain('left out');
});

describe('kept starts', () => {
  const place = { sender: 'quiche', link: 'slow DSL', seed: 1 } as const;

  it('continue where an earlier run was interrupted, and refuse another seed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hopwise-starts-'));
    try {
      const round = [{ timeMs: 1.5, drops: 2, latenessMs: 0.1 }];
      await (await KeptStarts.open({ ...place, dir })).add(round);
      expect((await KeptStarts.open({ ...place, dir })).rounds).toEqual([round]);
      expect((await KeptStarts.open({ ...place, link: 'LTE', dir })).rounds).toEqual([]);
      await expect(KeptStarts.open({ ...place, dir, seed: 2 })).rejects.toThrow(
        /its rounds have seed 1, not 2/,
      );
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('objects of one size', () => {
  const times = (figure: 10 | 11, h1: number, h2: number, econ: { h1: number; h2: number }): HttpTimes => ({
    experiment: { figure, objects: 10, objectBytes: 10_000, loss: 0, rttMs: 50 },
    measured: { h1, h2 },
    econ,
  });

  it('have the mean error of figure 10’s experiments alone', () => {
    const all = [
      times(10, 100, 100, { h1: 110, h2: 80 }),
      times(10, 200, 100, { h1: 180, h2: 100 }),
      times(11, 100, 100, { h1: 900, h2: 900 }),
    ];
    expect(meanError(all, 'h1')).toBeCloseTo(0.1, 12);
    expect(meanError(all, 'h2')).toBeCloseTo(0.1, 12);
  });

  it.each([
    [200, 100, 1],
    [104, 100, 1],
    [100, 200, 0],
  ])('chosen as HTTP/2 at %d and %d ms are right in %d of 1', (h1, h2, right) => {
    expect(countChoices([times(11, h1, h2, { h1: 2, h2: 1 })])).toEqual({ right, all: 1 });
  });

  it('take from the first request to the last end', () => {
    const image = { type: 'image', startMs: 10, endMs: 50, decodedBytes: 10_000 };
    const requests = [
      { type: 'document', startMs: 0, endMs: 90 },
      image,
      { ...image, startMs: 20, endMs: 70 },
    ] as Recording['requests'];
    expect(objectsMs({ requests }, { objects: 2, objectBytes: 10_000 })).toBe(60);
    expect(() => objectsMs({ requests }, { objects: 2, objectBytes: 20_000 })).toThrow(
      'expected 2 images of 20000 bytes, got 0',
    );
  });
});

describe('qualities of a video', () => {
  const round = [1_086_980, 527_676, 306_003, 244_931];
  const sizes = [...Array(5).fill(527_676), ...Array.from({ length: 5 }, () => round).flat()];

  it.each([
    [90, '360p'],
    [100, '480p'],
    [200, '720p'],
    [400, '1080p'],
    [50, null],
  ])('at %d bytes/ms all rivals find %s', (rate, quality) => {
    const found = judgeVideo(
      100,
      sizes,
      sizes.map((bytes) => bytes / rate),
    );
    expect(found.truth).toBe(quality);
    expect(new Set(Object.values(found.rivals))).toEqual(new Set([quality]));
  });

  it('count as right where they are the highest in time', () => {
    const rivals = { EWMA: '720p', 'Holt-Winters': null, 'last sample': '480p', 'harmonic mean': '720p' };
    const one = { rttMs: 50, truth: '720p', econ: '720p', rivals };
    expect(countRight([one, { ...one, truth: '480p' }])).toEqual({
      econ: 1,
      rivals: { EWMA: 1, 'Holt-Winters': 0, 'last sample': 1, 'harmonic mean': 1 },
    });
  });
});

describe('a start at a rate', () => {
  it.each([
    ['slow DSL', 1, 104],
    ['fast DSL', 1, 208],
    ['LTE', 4, 747],
    ['3G', 0.5, 30],
  ])('on %s at %d times the rate has a window of %d packets', (name, factor, packets) => {
    expect(startWindow(LINKS.find((link) => link.name === name)!, factor)).toBe(packets);
  });

  const times = LINKS.flatMap((link, position) =>
    STARTS.map((start) => ({
      link: link.name,
      start,
      emulatedMs: start.factor === null ? 900 : 800,
      flows: Array.from({ length: 10 }, (_, round) => ({
        timeMs: (start.factor === null ? 1_000 : 500) + round + position,
        drops: start.factor === 4 ? 60 : 2,
        latenessMs: 0,
      })),
    })),
  );

  it('gains what it is faster than slow start in the same rounds', () => {
    const gains = gainsOf(times, 2_000_000, 4);
    expect(gains.map(({ link }) => link.name)).toEqual(LINKS.map(({ name }) => name));
    expect(gains[1]).toMatchObject({
      gainMs: { median: 500, low: 500, high: 500 },
      drops: { slowStart: 2, start: 60 },
      emulatedGainMs: 100,
    });
    expect(gains[1]!.speedup).toBeCloseTo(1005.5 / 505.5, 9);
  });

  it('is not judged without its flows', () => {
    expect(() => gainsOf(times.slice(1), 70_000, 1)).toThrow('slow DSL: no flows of 70000 bytes at null');
  });

  it.each(['kernel', 'quiche'] as const)('is faster than slow start in the emulator too, of %s', (sender) => {
    const lte = LINKS.find(({ name }) => name === 'LTE')!;
    const emulated = (factor: number | null) => emulateStart(lte, { bytes: 2_000_000, factor }, sender);
    expect(emulated(1)).toBeLessThan(emulated(null));
  });
});

describe('rivals of ECON', () => {
  it.each([
    ['EWMA', 3.6], // 0.8 · 4 + 0.2 · 2
    ['Holt-Winters', 6], // level 2 and trend 2 fit both values
    ['last sample', 4],
    ['harmonic mean', 8 / 3], // 2 / (1/2 + 1/4)
  ] as const)('%s predicts from 2, 4', (name, next) => {
    expect(RIVALS[name]([2, 4])).toBeCloseTo(next, 12);
  });
});

describe('a curve of loss by window', () => {
  const curve = (loss: (cwnd: number) => number): LossCurve => ({
    network: 'azure',
    congestionControl: 'cubic',
    connections: 1,
    rows: Array.from({ length: 100 }, (_, index) => ({ cwnd: index + 1, p: loss(index + 1) })),
  });

  it('is high at both ends only where it falls and rises', () => {
    expect(isHighAtBothEnds(curve((cwnd) => (cwnd - 50) ** 2 * 1e-6))).toBe(true);
    expect(isHighAtBothEnds(curve((cwnd) => cwnd * 1e-6))).toBe(false);
    expect(isHighAtBothEnds(curve(() => 1e-6))).toBe(false);
  });
});
