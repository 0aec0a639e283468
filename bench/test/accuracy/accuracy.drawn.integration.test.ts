/** Runs `npm run bench -- accuracy` without the set-up. */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  failedLoad,
  loadOf,
  NETWORK,
  wholeCell,
  writeFolder,
} from '../../../lab/test/support/measured-loads.ts';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import type { Accuracy } from '../../src/accuracy/accuracy.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hopwise-accuracy-'));
});
afterEach(() => rm(dir, { recursive: true }));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function accuracy(...args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, 'bench/src/accuracy/main.ts'), ...args], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (chunk) => {
        ended[stream] += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...ended }));
  });
}

/** Two pages, one whose name is markup, on an open network and one that drops UDP. */
async function writeMeasured(to: string): Promise<void> {
  const on = (network: string, name: string) =>
    wholeCell()
      .filter(({ protocol }) => network === 'net' || protocol !== 'h3')
      .map((load) => ({ ...load, network, page: name }));
  const fact = { source: 'shop', requests: 4, origins: 2, bytes: 1, digest: '0' };
  await writeFolder(
    to,
    [
      ...on('net', 'page'),
      ...on('net', '<b>page'),
      ...on('blocked', 'page'),
      { ...failedLoad('h3', 1), network: 'blocked' },
      loadOf('assigned', 1, 300, {
        assignment: { 'https://www.page.test': 'h3', 'https://img.page.test': 'h2' },
      }),
      loadOf('assigned', 1, 300, {
        assignment: { 'https://www.page.test': 'h3', 'https://img.page.test': 'h3' },
      }),
    ],
    {
      networks: {
        net: { title: 'Net', network: NETWORK },
        blocked: { title: 'No UDP', network: { ...NETWORK, udp: 'blocked' } },
      },
      pages: { page: fact, '<b>page': fact },
    },
  );
}

describe('judging', () => {
  it('prints tables and writes figures and charts', async () => {
    await writeMeasured(join(dir, 'measured'));
    const { code, stdout, stderr } = await accuracy('measured', '--out', 'out');
    expect(stderr).not.toContain('hopwise:');
    expect(code).toBe(0);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
    expect(stdout).toContain('Lantern, network given');
    expect(stdout).toMatch(/^ECON, network given +\S+% +\S+% +– /m);
    expect(stdout).toContain('ECON has no model of h3');
    expect(stdout).toMatch(/always HTTP\/3 .* 1 +3 /);

    expect((await readdir(join(dir, 'out'))).sort()).toEqual([
      'accuracy.json',
      'index.html',
      'predicted.svg',
      'regret.svg',
    ]);
    const figures = JSON.parse(await readFile(join(dir, 'out/accuracy.json'), 'utf8')) as Accuracy;
    expect(figures.measured).toMatchObject({ cells: 3, recorded: { natural: 9, h2: 0 } });
    expect(figures.figures.choosers.alwaysH3).toMatchObject({ notLoading: 1 });
    const { scores, leftOut } = figures.assigned;
    expect(leftOut).toEqual({ uniform: 1, notLoading: 0, unpaired: 0 });
    expect(scores).toHaveLength(1);
    // Seed 1 alone counts, where h3 took 321 ms.
    expect(scores[0]).toMatchObject({ seeds: 1, measuredRatio: { estimate: 300 / 321 } });
    // The image's origin takes a round trip of 40 ms more to connect than under h3, of some 200 ms in all.
    expect(scores[0]!.predictedRatio).toBeGreaterThan(1.1);
    expect(scores[0]!.predictedRatio).toBeLessThan(1.35);
    const html = await readFile(join(dir, 'out/index.html'), 'utf8');
    expect(html).not.toContain('<b>page');
    expect(html).toContain('&lt;b&gt;page');
    expect(await readFile(join(dir, 'out/regret.svg'), 'utf8')).toContain('prefers-color-scheme: dark');
  });

  it('prints JSON and nothing else', async () => {
    await writeMeasured(join(dir, 'measured'));
    const { code, stdout } = await accuracy('measured', '--json', '--networks', 'blocked', '--out', 'out');
    expect(code).toBe(0);
    const figures = JSON.parse(stdout) as Accuracy;
    expect(figures.format).toBe('hopwise-accuracy');
    expect(figures.measured.networks).toEqual(['blocked']);
    expect(figures.figures.predictors.hopwiseGiven!.error.h3).toBeNull();
  });

  const refused: [args: string[], line: string][] = [
    [['nowhere'], 'hopwise: nowhere: expected a folder with a matrix.json of npm run lab\n'],
    [['measured', '--pages', 'x'], 'hopwise: --pages "x": expected some of page, <b>page\n'],
    [
      ['measured', '--out', 'measured/matrix.json'],
      'hopwise: --out measured/matrix.json: expected a folder that can be made, but there is a file of that name',
    ],
    [['measured', '--pages', ','], 'expected names separated by commas'],
    [[], "hopwise: missing required argument 'dir'"],
  ];
  it.each(drawShare(refused, 2))('refuses %j', async (args, line) => {
    await writeMeasured(join(dir, 'measured'));
    const { code, stdout, stderr } = await accuracy(...args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(line);
  });
});

describe('golden', () => {
  it('makes a set, accepts equal figures, and fails when accepted figures were better', async () => {
    await writeMeasured(join(dir, 'measured'));
    const made = await accuracy('golden', 'measured', '--dir', 'golden');
    expect(made.code).toBe(0);
    const file = join(dir, 'golden/accuracy.json');
    const own = await readFile(file, 'utf8');
    const accepted = JSON.parse(own);
    accepted.figures['hopwise, network given: median error, h1'] -= 0.05;
    await writeFile(file, JSON.stringify(accepted));
    const worse = await accuracy('golden', '--dir', 'golden');
    expect(worse.code).toBe(1);
    expect(worse.stdout).toMatch(/network given: median error, h1 .* WORSE/);
    expect(worse.stderr).toContain('worse than accepted');

    expect((await accuracy('golden', '--dir', 'golden', '--accept')).code).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(own);
    expect((await accuracy('golden', '--dir', 'golden')).code).toBe(0);
  });

  it('names the file when there are no accepted figures', async () => {
    await writeMeasured(join(dir, 'measured'));
    const { code, stderr } = await accuracy('golden', '--dir', 'measured');
    expect(code).toBe(2);
    expect(stderr).toContain('measured/accuracy.json: expected accepted figures');
  });
});
