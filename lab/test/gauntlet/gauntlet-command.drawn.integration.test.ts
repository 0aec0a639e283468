/** `npm run lab -- gauntlet` from end to end: one drawn cell in the lab, and its readings judged. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRecording } from '@hopwise/pageload-emulator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KNOWN_MEANS, scoreGraph } from '../../../bench/src/accuracy/readings/known-graph.ts';
import { readKnownPages } from '../../src/gauntlet/known-pages.ts';
import type { GroundTruthLoad } from '../../src/ground-truth/ground-truth.ts';
import { readLoads } from '../../src/ground-truth/store.ts';
import { ROOT } from '../../src/paths.ts';

let out: string;

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'hopwise-gauntlet-'));
});

afterAll(() => rm(out, { recursive: true, force: true }));

/** The first cell of this seed is a light dashboard with 26 fetches on a fast network without loss. */
const SEED = '41';

async function gauntlet(): Promise<string> {
  const child = spawn(
    process.execPath,
    [
      join(ROOT, 'lab/dist/main.js'),
      ...['gauntlet', '--split', 'train', '--seed', SEED, '--cells', '1'],
      // The loads' times do not matter here.
      ...['--quiet-limit', '0', '--out', out],
    ],
    { stdio: ['ignore', 'inherit', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, said).toBe(0);
  return said;
}

it('loads a drawn page under each protocol, with its true graph beside the recordings, and continues', async () => {
  expect(await gauntlet()).toContain('11 loads kept');
  const known = await readKnownPages(out);
  const page = known?.pages['train-41-0000'];
  if (page === undefined) throw new Error('expected the page to be known');
  const urls = page.requests.map(({ url }) => url).toSorted();
  const loads: GroundTruthLoad[] = [];
  for await (const load of readLoads(out)) loads.push(load);
  const counts = Object.fromEntries(
    ['natural', 'h1', 'h2', 'h3'].map((each) => [
      each,
      loads.filter(({ protocol }) => protocol === each).length,
    ]),
  );
  expect(counts).toEqual({ natural: 2, h1: 3, h2: 3, h3: 3 });
  for (const { outcome } of loads) {
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(outcome.proved).toBe(true);
    const recording = parseRecording(outcome.recording);
    expect(recording.requests.map(({ url }) => url).toSorted()).toEqual(urls);
    const { parents } = scoreGraph(recording, page);
    // Fetches delay the load event only where an image follows, so some requests may be outside of the graph.
    expect(parents.markup.requests).toBe(page.requests.filter(({ means }) => means === 'markup').length);
    expect(parents.markup.found).toBe(parents.markup.requests);
    expect(KNOWN_MEANS.reduce((sum, means) => sum + parents[means].requests, 0)).toBeGreaterThan(20);
  }
  expect(await gauntlet()).toContain('11 of them exist already');
});
