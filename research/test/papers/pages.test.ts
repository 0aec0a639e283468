import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadOf, NETWORK, writeFolder } from '../../../lab/test/support/measured-loads.ts';
import {
  countRight,
  gainOf,
  type PageCell,
  readPageCells,
  timeOverEcon,
} from '../../src/papers/econ/page-choices.ts';
import { aloneFinding, choiceFinding, gainFinding } from '../../src/papers/econ/page-claims.ts';
import { LOSSES, networkAt, networkName, pagesInIndex } from '../../src/papers/econ/recorded-pages.ts';
import { judgeFinding } from '../../src/papers/judge-claim.ts';

const cellOf = (h1: number, h2: number, econ: 'h1' | 'h2', loss: number = LOSSES[0]): PageCell => ({
  page: 'a',
  loss,
  loads: 3,
  measured: { h1, h2 },
  choices: {
    ECON: econ,
    hopwise: 'h2',
    'always HTTP/1.1': 'h1',
    'always HTTP/2': 'h2',
    'hopwise with HTTP/3': 'h2',
    'HTTP/3 unless UDP is hindered': 'h2',
  },
});

/** Ten pages at each loss, of which ECON chooses the wrong protocol for `wrong`. */
const tenPages = (wrong: number, h1 = 1_000, h2 = 500): PageCell[] =>
  LOSSES.flatMap((loss) =>
    Array.from({ length: 10 }, (_, page) => cellOf(h1, h2, page < wrong ? 'h1' : 'h2', loss)),
  );

describe('choices for pages', () => {
  const cells = [cellOf(1_000, 500, 'h2'), cellOf(1_000, 1_040, 'h2'), cellOf(400, 1_000, 'h2')];

  it('are right where they cost at most the tolerance', () => {
    expect(countRight(cells, 'ECON', 0.05)).toBe(2);
    expect(countRight(cells, 'ECON', 0)).toBe(1);
    expect(countRight(cells, 'always HTTP/1.1', 0)).toBe(2);
  });

  it('gain what they take less than the slower protocol', () => {
    // (1 − 500/1000 + 0 + 0) / 3
    expect(gainOf(cells, 'ECON')).toBeCloseTo(0.5 / 3, 12);
    // (0 + 1 − 1000/1040 + 1 − 400/1000) / 3
    expect(gainOf(cells, 'always HTTP/1.1')).toBeCloseTo((40 / 1_040 + 0.6) / 3, 12);
  });

  it('are compared with ECON by the mean time', () => {
    // (1000 + 1000 + 400) / (500 + 1040 + 1000)
    expect(timeOverEcon(cells, 'always HTTP/1.1')).toBeCloseTo(2_400 / 2_540, 12);
  });
});

describe('verdicts on pages', () => {
  it('need as many right choices as the paper has at each loss', () => {
    expect(judgeFinding(choiceFinding(tenPages(0)))).toBe('reproduced');
    // Nine of ten at the lowest loss, where the paper has ten.
    expect(choiceFinding(tenPages(1))).toMatchObject({ real: { value: -1, min: 0 } });
  });

  it('need the paper’s smallest gain at each loss', () => {
    expect(judgeFinding(gainFinding(tenPages(0)))).toBe('reproduced');
    // 0.7 · 0.5 = 0.35, below 36.5%.
    expect(gainFinding(tenPages(3))).toMatchObject({ real: { value: expect.closeTo(0.35, 12), min: 0.365 } });
  });

  it('need a loss at which each protocol alone takes longer', () => {
    // HTTP/2 alone is what ECON chooses: 1.00 of its time.
    expect(aloneFinding(tenPages(0))).toMatchObject({ real: { value: 1 } });
    const mixed = LOSSES.flatMap((loss) => [cellOf(1_000, 500, 'h2', loss), cellOf(400, 1_000, 'h1', loss)]);
    // ECON 900; HTTP/1.1 alone 1,400, HTTP/2 alone 1,500.
    expect(aloneFinding(mixed)).toMatchObject({ real: { value: expect.closeTo(1_400 / 900, 12) } });
    expect(judgeFinding(aloneFinding(mixed))).toBe('reproduced');
  });
});

describe('pages of the index', () => {
  it('have 20 to 500 requests and at most 2 MB, in its order', () => {
    const csv = [
      'file,site,entries,total_bytes',
      'small.har,http://a.test/,19,1000',
      'b.har,http://b.test/,20,2000000',
      'large.har,http://c.test/,500,2000001',
      'a.har,http://d.test/,500,1000',
      'many.har,http://e.test/,501,1000',
    ];
    expect(pagesInIndex(csv.join('\n'))).toEqual(['b.har', 'a.har']);
    expect(() => pagesInIndex('file,entries\na.har,20')).toThrow('expected a column total_bytes');
  });
});

describe('a folder of measured pages', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hopwise-papers-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('is judged by its forced loads, with choices from the one recorded load of the page', async () => {
    const [low, high] = [networkName(1e-5), networkName(1e-2)];
    const networks = Object.fromEntries(
      [1e-5, 1e-2].map((loss) => [networkName(loss), { title: `${loss}`, network: networkAt(loss) }]),
    );
    const forced = [low, high].flatMap((network) =>
      [1, 2, 3].flatMap((seed) => [
        { ...loadOf('h1', seed, 600 + seed), network },
        { ...loadOf('h2', seed, 400 + seed), network },
      ]),
    );
    const recorded = { ...loadOf('natural', 1, 400), network: low };
    // A first load of HTTP/3 leaves the others' seeds alone where it is not asked for.
    const begun = { ...loadOf('h3', 1, 300), network: low };
    await writeFolder(dir, [...forced, recorded, begun], { networks });
    const cells = await readPageCells(dir, ['h1', 'h2']);
    expect(cells.map(({ loss, loads, measured }) => ({ loss, loads, measured }))).toEqual([
      { loss: 1e-2, loads: 3, measured: { h1: 602, h2: 402 } },
      { loss: 1e-5, loads: 3, measured: { h1: 602, h2: 402 } },
    ]);
    for (const { choices } of cells) expect(choices['HTTP/3 unless UDP is hindered']).toBe('h2');
  });

  it('is on the network of the paper', () => {
    expect({ ...NETWORK, ...networkAt(0.01) }).toMatchObject({ rttMs: 50, loss: 0.01, lossBurst: 1 });
    expect(LOSSES.map(networkName)).toEqual(['loss-1e-5', 'loss-1e-4', 'loss-1e-3', 'loss-1e-2']);
  });
});
