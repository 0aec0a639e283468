import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFileWithin } from '../../src/command/write-file.ts';
import type {
  GroundTruthLoad,
  GroundTruthMatrix,
  LoadProtocol,
} from '../../src/ground-truth/ground-truth.ts';
import { gzipMember } from '../../src/ground-truth/gzip-members.ts';
import { drawCharts } from '../../src/summary/charts.ts';
import { summariseFolder } from '../../src/summary/command.ts';
import { renderSummaryHtml } from '../../src/summary/html.ts';
import { type GroundTruthSummary, summarise } from '../../src/summary/summary.ts';
import { renderSummaryText } from '../../src/summary/text.ts';
import { load, matrix, network, unreachable } from '../support/measured-loads.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hopwise-matrix-'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

describe('the summary', () => {
  const series = (protocol: LoadProtocol, ...times: number[]) =>
    times.map((pltMs, index) => load(protocol, index + 1, pltMs));
  const warm = (loads: GroundTruthLoad[]) => loads.map((one) => ({ ...one, view: 'warm' as const }));
  const cold = (summary: GroundTruthSummary) => summary.views.cold!;

  it('finds the fastest protocol, by how much, and whether that is decided', () => {
    const summary = summarise(matrix, [
      ...series('h1', 120, 121, 119, 122, 118),
      ...series('h2', 100, 101, 99, 102, 98),
      ...series('h3', 150, 151, 149, 152, 148),
      ...series('natural', 90, 91, 92),
    ]);
    const { cells } = summary;
    expect(cells).toHaveLength(1);
    expect(cells[0]).toMatchObject({ best: 'h2', agreement: 1, seeds: 5, clear: true, decided: true });
    expect(cells[0]!.margin).toBeCloseTo(0.2);
    expect(cells[0]!.protocols.h2).toMatchObject({ loads: 5, medianMs: 100, lowMs: 98, highMs: 102 });
    expect(cells[0]!.protocols.h2!.medianLowMs).toBeGreaterThanOrEqual(98);
    expect(cells[0]!.protocols.h2!.cv).toBeCloseTo(Math.sqrt(2.5) / 100);
    // Over the three common seeds: 91 over 100.
    expect(cells[0]!.protocols.natural!.overBest).toBeCloseTo(0.91);
    expect(cold(summary).wins).toMatchObject({
      h1: { cells: 0 },
      h2: { cells: 1, clear: 1, decided: 1 },
      h3: { cells: 0 },
    });
  });

  it('decides nothing between equals, at a lead of 5%, or with four seeds', () => {
    const decided = (...loads: GroundTruthLoad[]) => summarise(matrix, loads).cells[0]!.decided;
    expect(decided(...series('h1', 100, 130, 110, 90, 120), ...series('h2', 101, 129, 111, 91, 119))).toBe(
      false,
    );
    const h2 = series('h2', 100, 100, 100, 100, 100);
    expect(decided(...series('h1', 105, 105, 105, 105, 105), ...h2)).toBe(false);
    expect(decided(...series('h1', 106, 106, 106, 106, 106), ...h2)).toBe(true);
    expect(decided(...series('h1', 106, 106, 106, 106), ...h2)).toBe(false);
  });

  it('judges the repeat view separately', () => {
    const { views } = summarise({ ...matrix, views: ['cold', 'warm'] }, [
      ...series('h1', 120, 120, 120, 120, 120),
      ...series('h2', 100, 100, 100, 100, 100),
      ...warm([...series('h1', 10, 10, 10, 10, 10), ...series('h2', 20, 21, 22, 23, 24)]),
    ]);
    expect(views.cold).toMatchObject({
      cells: 1,
      wins: { h1: { cells: 0 }, h2: { cells: 1 } },
      noiseFloor: { cells: 1 },
      quietSpread: { series: 2, max: 0 },
    });
    expect(views.warm).toMatchObject({ cells: 1, wins: { h1: { cells: 1 }, h2: { cells: 0 } } });
    const regretOf = (view: 'cold' | 'warm') =>
      views[view]!.rules.find(({ rule }) => rule === 'alwaysH2')!.regret!.mean;
    expect(regretOf('cold')).toBe(0);
    expect(regretOf('warm')).toBeCloseTo(1.2);
  });

  it('leaves disturbed loads out of all figures with their seed, and counts them', () => {
    const disturbed = { ...load('h1', 2, 9000), disturbed: true, repeated: 4 };
    const { cells, loads } = summarise(matrix, [
      load('h1', 1, 100),
      disturbed,
      load('h1', 3, 110),
      ...series('h2', 90, 1, 90),
    ]);
    expect(cells[0]!.protocols.h1).toMatchObject({ loads: 2, medianMs: 105 });
    expect(cells[0]!.protocols.h2).toMatchObject({ loads: 2, medianMs: 90 });
    expect(loads).toMatchObject({ kept: 6, judging: 4, dropped: 4 });
    expect(loads.leftOut).toMatchObject({ disturbed: 1, unpaired: 1 });
  });

  it('judges rules against the best of each cell, by the browser’s own choice where HTTP/3 is unreachable', () => {
    const summary = summarise(matrix, [
      ...series('h1', 120, 120, 120, 120),
      ...series('h2', 100, 100, 100, 100),
      ...series('natural', 110, 110, 110, 110),
      unreachable('h3', 1),
      unreachable('h3', 2),
    ]);
    const { rules, noiseFloor, quietSpread } = cold(summary);
    const judged = (name: string) => rules.find(({ rule }) => rule === name)!;
    expect(judged('alwaysH1').regret!.mean).toBeCloseTo(0.2);
    expect(judged('alwaysH1').halfRegret).toBeCloseTo(0.2);
    expect(judged('alwaysH2').regret!.mean).toBe(0);
    expect(judged('alwaysH3')).toMatchObject({ cells: 1, fallbacks: 1 });
    expect(judged('alwaysH3').regret!.mean).toBeCloseTo(0.1);
    expect(noiseFloor).toMatchObject({ cells: 1, regret: { mean: 0 } });
    expect(quietSpread).toMatchObject({ series: 3, max: 0 });
    expect(summary.loads).toMatchObject({ unreachable: 2, judging: 14 });
  });

  it('reports differences that may be chance as the noise floor', () => {
    const { noiseFloor } = cold(
      summarise(matrix, [
        ...series('h1', 100, 140, 120, 80, 110, 90),
        ...series('h2', 101, 139, 121, 81, 109, 91),
      ]),
    );
    expect(noiseFloor.regret!.mean).toBeGreaterThan(0.002);
    expect(noiseFloor.regret!.mean).toBeLessThan(0.02);
  });

  const hostilePage = '<img src=x onerror=alert(1)>';
  // The store rejects such names; the parts are tested without it.
  const hostileNetwork = '../../out';
  const hostile: GroundTruthMatrix = {
    ...matrix,
    pages: { [hostilePage]: matrix.pages.app! },
    networks: { [hostileNetwork]: { title: '<b>Fibre', network } },
  };
  const hostileLoads = [
    ...series('h1', 120, 121, 119),
    ...series('h2', 100, 101, 99),
    unreachable('h3', 1),
    unreachable('h3', 2),
  ].map((one) => ({ ...one, page: hostilePage, network: hostileNetwork }));

  it('renders text, charts and HTML without markup from names', async () => {
    const summary = summarise(hostile, hostileLoads);
    expect(renderSummaryText(summary)).toMatch(
      /0\.12 0\.12–0\.12 1% .* unreachable .* HTTP\/2 +20\.0% +100% of 3\n/,
    );
    const charts = drawCharts(summary, hostile);
    expect(charts.map((chart) => chart.name)).toEqual(['compared', '..-..-out']);
    for (const { svg } of charts) {
      expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      expect(svg).toContain('var(--hw-h2)');
    }
    const html = await renderSummaryHtml(summary, hostile, charts);
    expect(html).toContain('&lt;img src=x');
    expect(html).not.toMatch(/<img|<b>|<script/);
  });

  it('writes nothing outside of the folder, even through links in it', async () => {
    const folder = join(dir, 'measured');
    await mkdir(join(folder, 'loads'), { recursive: true });
    await writeFile(join(folder, 'matrix.json'), JSON.stringify(matrix));
    const lines = [...series('h1', 120, 121), ...series('h2', 100, 101)].map((one) =>
      gzipMember(`${JSON.stringify(one)}\n`),
    );
    await writeFile(join(folder, 'loads', 'x.jsonl.gz'), Buffer.concat(lines));
    await writeFile(join(dir, 'victim'), 'untouched');
    await symlink(join(dir, 'victim'), join(folder, 'index.html'));
    await summariseFolder(folder, { json: false });
    expect((await readdir(folder)).sort()).toEqual([
      'index.html',
      'loads',
      'matrix.json',
      'plots',
      'summary.json',
    ]);
    expect((await readdir(join(folder, 'plots'))).sort()).toEqual(['compared.svg', 'fast.svg']);
    expect(await readFile(join(folder, 'plots/fast.svg'), 'utf8')).toContain('prefers-color-scheme: dark');
    expect(await readFile(join(dir, 'victim'), 'utf8')).toBe('untouched');

    await mkdir(join(dir, 'elsewhere'));
    await rm(join(folder, 'plots'), { recursive: true });
    await symlink(join(dir, 'elsewhere'), join(folder, 'plots'));
    await expect(summariseFolder(folder, { json: false })).rejects.toThrow(
      /expected the name of a file within/,
    );
    expect(await readdir(join(dir, 'elsewhere'))).toEqual([]);
  });

  it.each(['../up', 'plots/../../up', '..', '.', ''])('refuses to write %j', async (name) => {
    const folder = join(dir, 'folder');
    await mkdir(folder);
    await expect(replaceFileWithin(folder, name, 'x')).rejects.toThrow(/expected the name of a file within/);
    expect(await readdir(folder)).toEqual([]);
    expect(await readdir(dir)).toEqual(['folder']);
  });
});
