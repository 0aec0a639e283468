import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failedLoad, loadOf, wholeCell, writeFolder } from '../../../lab/test/support/measured-loads.ts';
import { readCells } from '../../src/accuracy/cells.ts';
import {
  compareGolden,
  type GoldenFigure,
  goldenFigures,
  makeGolden,
  readAccepted,
  writeAccepted,
} from '../../src/accuracy/golden.ts';
import { GOLDEN_DIR } from '../../src/accuracy/options.ts';

const GOLDEN = join(ROOT, GOLDEN_DIR);

describe('the golden set', () => {
  it('is predicted as well as was accepted', { timeout: 600_000 }, async () => {
    const { lines, worse } = compareGolden(await readAccepted(GOLDEN), await goldenFigures(GOLDEN));
    console.log(lines.join('\n'));
    expect(worse, 'worse than accepted; npm run bench -- accuracy golden --accept accepts it').toEqual([]);
  });

  it('is small enough to be committed', async () => {
    const files = (await readdir(GOLDEN, { recursive: true, withFileTypes: true })).filter((f) => f.isFile());
    const sizes = await Promise.all(files.map((file) => stat(join(file.parentPath, file.name))));
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(800_000);
  });

  it('has the project’s own pages on several networks', async () => {
    const { cells, unusable } = await readCells(GOLDEN);
    expect(unusable).toEqual([]);
    expect(new Set(cells.map(({ page }) => page)).size).toBeGreaterThanOrEqual(3);
    expect(new Set(cells.map(({ network }) => network)).size).toBeGreaterThanOrEqual(3);
    expect(cells.every(({ recordedUnder }) => recordedUnder === 'natural')).toBe(true);
  });
});

describe('comparing with accepted figures', () => {
  const figure = (value: number | null, better: GoldenFigure['better'] = 'less'): GoldenFigure => ({
    name: 'figure',
    value,
    better,
    slack: 0.01,
  });

  it.each([
    ['as good', 0.1, figure(0.1), false],
    ['a little worse', 0.1, figure(0.109), false],
    ['much worse', 0.1, figure(0.12), true],
    ['much better', 0.1, figure(0.02), false],
    ['less right', 0.9, figure(0.8, 'more'), true],
    ['more right', 0.9, figure(1, 'more'), false],
    ['no longer there', 0.1, figure(null), true],
    ['new', null, figure(0.5), false],
  ])('%s', (_, accepted, present, isWorse) => {
    const { worse, lines } = compareGolden({ figure: accepted }, [present]);
    expect(worse).toEqual(isWorse ? ['figure'] : []);
    expect(lines.join('\n').includes('WORSE')).toBe(isWorse);
  });

  it('reports an accepted figure that is no longer tracked as missing', () => {
    expect(compareGolden({ figure: 0.1, other: 0.2 }, [figure(0.1)]).worse).toEqual(['other']);
  });
});

describe('making a golden set', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hopwise-golden-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('keeps the judging loads and the recordings used for predictions', async () => {
    const from = join(dir, 'from');
    const to = join(dir, 'to');
    await writeFolder(from, [
      ...wholeCell(),
      loadOf('h1', 4, 501.23456),
      loadOf('h1', 5, 900, { disturbed: true }),
      loadOf('h1', 6, 900, { view: 'warm' }),
      failedLoad('h3', 7),
    ]);
    await makeGolden(from, to, 2);
    const { cells, leftOut, loads } = await readCells(to);
    expect(loads).toBe(12);
    expect(leftOut).toMatchObject({ disturbed: 0, unproved: 0, unpaired: 2 });
    expect(cells[0]!.recorded.map(({ seed }) => seed)).toEqual([1, 2]);
    const { sound, pltMs } = cells[0]!.loads;
    const odd = sound.find(({ protocol, seed }) => protocol === 'h1' && seed === 4)!;
    expect(odd.outcome).toMatchObject({ ok: true, pltMs: 501.2 });
    expect(pltMs.get('natural')!.size).toBe(3);
    expect(sound.some(({ view }) => view === 'warm')).toBe(false);
  });

  it('writes figures that it can read, the same ones each time', async () => {
    await writeFolder(dir, wholeCell());
    const figures = await goldenFigures(dir);
    await writeAccepted(dir, figures);
    const { worse, lines } = compareGolden(await readAccepted(dir), await goldenFigures(dir));
    expect(worse).toEqual([]);
    expect(lines.slice(1).every((line) => / 0\.00 | – /.test(line))).toBe(true);
  });

  it('does not touch a folder that is not a golden set', async () => {
    await writeFolder(dir, wholeCell());
    await expect(makeGolden(dir, dir, 1)).rejects.toThrow('it is not a golden set');
    expect((await readCells(dir)).cells[0]!.recorded).toHaveLength(3);
  });

  it.each(['../har/site.har.gz', 'npm:some-package', 'page.json', 'out/my-page', '../web-p25', 'web-p26'])(
    'refuses a page of %s',
    async (source) => {
      const from = join(dir, 'from');
      await writeFolder(from, wholeCell(), {
        pages: { page: { source, requests: 1, origins: 1, bytes: 1, digest: '0' } },
      });
      await expect(makeGolden(from, join(dir, 'to'), 1)).rejects.toThrow(
        "expected only the project's own pages",
      );
      expect(await readdir(dir)).toEqual(['from']);
    },
  );

  it.each(['shop', 'web-7', 'web-p90'])('takes %s', async (source) => {
    const from = join(dir, 'from');
    await writeFolder(from, wholeCell(), {
      pages: { page: { source, requests: 1, origins: 1, bytes: 1, digest: '0' } },
    });
    await makeGolden(from, join(dir, 'to'), 1);
    expect((await readCells(join(dir, 'to'))).cells).toHaveLength(1);
  });

  it('tracks choices that do not load the page', async () => {
    await writeFolder(dir, [
      ...wholeCell().filter(({ protocol }) => protocol !== 'h3'),
      failedLoad('h3', 1),
      failedLoad('h3', 2),
    ]);
    const name = 'hopwise, one load only: cells that the choice does not load';
    const tracked = (await goldenFigures(dir)).find((figure) => figure.name === name)!;
    expect(tracked).toMatchObject({ better: 'less', slack: 0 });
    expect([0, 1]).toContain(tracked.value);
    expect(compareGolden({ [name]: 0 }, [{ ...tracked, value: 0.01 }]).worse).toEqual([name]);
  });
});
