import { expect, test } from 'vitest';
import { judgeRuns, summariseRuns } from '../../src/loop/judge-runs.ts';
import { showRuns } from '../../src/loop/runs-table.ts';
import type { StoredRun, StoredVisit } from '../../src/product/store.ts';
import { visitsOf } from '../support/product-visits.ts';

const run = (id: string, more: Partial<StoredRun> = {}): StoredRun => ({
  id,
  scope: 'page',
  trigger: 'decision',
  kinds: ['avoid-h3'],
  end: null,
  ...more,
});

/** @param runs after each visit of the loop */
function visitsWith(
  network: string,
  page: string,
  times: { off: number[]; explore: number[] },
  runs: StoredRun[][],
): StoredVisit[] {
  return visitsOf(network, page, times).map((visit) =>
    visit.arm === 'explore' ? { ...visit, runs: runs[visit.visit - 1]! } : visit,
  );
}

const VISITS = [
  ...visitsWith('cable', 'a', { off: [1000, 1000, 1000, 1000], explore: [1000, 1200, 1200, 1000] }, [
    [run('1')],
    [run('1')],
    [run('1', { end: 'slower' }), run('2', { trigger: 'trial' })],
    [run('2', { trigger: 'trial', end: 'tried' }), run('3', { scope: 'network', trigger: 'network' })],
  ]),
  // The run of the network holds for its next page, too.
  ...visitsWith('cable', 'b', { off: [1000, 2000], explore: [500, 1000] }, [
    [run('3', { scope: 'network', trigger: 'network' })],
    [run('3', { scope: 'network', trigger: 'network' })],
  ]),
];

test('a run is judged by the loads that began while it was in force, each beside the browser alone', () => {
  expect(judgeRuns('explore', VISITS)).toEqual([
    {
      network: 'cable',
      page: 'a',
      trigger: 'decision',
      kinds: ['avoid-h3'],
      loads: 2,
      ratio: expect.closeTo(1.2, 10),
      end: 'slower',
    },
    { network: 'cable', page: 'a', trigger: 'trial', kinds: ['avoid-h3'], loads: 1, ratio: 1, end: 'tried' },
    {
      network: 'cable',
      page: 'b',
      trigger: 'network',
      kinds: ['avoid-h3'],
      loads: 2,
      ratio: expect.closeTo(0.5, 10),
      end: null,
    },
  ]);
});

test('where one network replaces another, a run is judged on each, and a run of another page is not', () => {
  const changed = visitsWith(
    'udp-policed>lossy',
    'a',
    { off: [4000, 4000, 1000, 1000], explore: [4000, 1000, 2000, 1000] },
    [[run('1')], [run('1')], [run('1', { end: 'no-gain' })], []],
  );
  const next = visitsWith('udp-policed>lossy', 'b', { off: [1000], explore: [1000] }, [[]]);
  expect(
    judgeRuns('explore', [...changed, ...next]).map(({ network, loads, ratio, end }) => [
      network,
      loads,
      ratio,
      end,
    ]),
  ).toEqual([
    ['udp-policed', 1, 0.25, null],
    ['lossy', 1, 2, 'no-gain'],
  ]);
});

test('the summary leaves trials out, and says how long harmful and good pins stayed', () => {
  const runs = judgeRuns('explore', VISITS);
  expect(summariseRuns(runs)).toEqual({
    slower: { runs: 1, loads: 2, mostLoads: 2, stayed: 0 },
    faster: { runs: 1, loads: 2, mostLoads: 2, stayed: 1 },
  });
  const text = showRuns(runs);
  expect(text).toMatch(/cable, a +decision +avoid-h3 +2 +\+20\.0% +slower/);
  expect(text).toContain(
    'slower by over 5%: 1, in force for 2 loads (median; 2 at most), 0 of them at the end',
  );
  expect(text).toContain('trials: 1 loads');
  expect(showRuns([])).toContain('faster by over 5%: none');
});
