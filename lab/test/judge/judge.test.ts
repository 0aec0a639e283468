/** The rules of judgement, shared by the summary and the accuracy bench. */

import { describe, expect, it } from 'vitest';
import type { LabNetwork } from '../../src/client/networks.ts';
import { groundTruthOf } from '../../src/judge/cell-ground-truth.ts';
import { judgeLoads, type LoadFacts } from '../../src/judge/cell-loads.ts';
import { GIVE_UP_MS, halfRegretOf, halvesOf, noiseOf, regretOf } from '../../src/judge/regret.ts';
import { ruleChoice } from '../../src/judge/rules.ts';
import { failedLoad, loadOf, NETWORK } from '../support/measured-loads.ts';

const series = (protocol: LoadFacts['protocol'], ...times: number[]) =>
  times.map((time, index) => loadOf(protocol, index + 1, time));
const timeout = (protocol: LoadFacts['protocol'], seed: number) =>
  loadOf(protocol, seed, 0, { outcome: { ok: false, kind: 'timeout', reason: 'no load event' } });
const failing = (load: ReturnType<typeof loadOf>, ...urls: string[]) => {
  if (load.outcome.ok) load.outcome.failed = urls.map((url) => ({ url, reason: '404' }));
  return load;
};
const networks = (udp: LabNetwork['udp'] = 'open') => ({
  net: { title: 'Net', network: { ...NETWORK, udp } },
  other: { title: 'Other', network: NETWORK },
});
const one = (...loads: LoadFacts[]) => judgeLoads(loads, networks()).cells[0]!;
const oneBlocked = (...loads: LoadFacts[]) => judgeLoads(loads, networks('blocked')).cells[0]!;

describe('which loads judge', () => {
  it('lets a load judge that requested a host unknown to the lab', () => {
    const late = loadOf('h1', 3, 100);
    if (late.outcome.ok) {
      late.outcome.failed = [{ url: 'https://elsewhere.example/', reason: 'net::ERR_NAME_NOT_RESOLVED' }];
    }
    const { leftOut } = judgeLoads([...series('h1', 100, 100), late, ...series('h2', 9, 9, 9)], networks());
    expect(leftOut.incomplete).toBe(0);
  });

  it('accounts for every load', () => {
    const loads = [
      ...series('h1', 100, 100, 100),
      ...series('h2', 90, 90, 90),
      loadOf('h2', 3, 91),
      loadOf('h1', 4, 100, { disturbed: true }),
      loadOf('h2', 4, 90),
      loadOf('h1', 5, 0, { outcome: { ok: false, kind: 'browser', reason: 'crashed' } }),
      failing(loadOf('h1', 6, 100), 'https://a.test/once'),
      failedLoad('h3', 1),
    ];
    const { judging, leftOut, cells } = judgeLoads(loads, networks('blocked'));
    expect(leftOut).toEqual({
      disturbed: 1,
      browser: 1,
      unproved: 0,
      incomplete: 1,
      replaced: 1,
      unconfirmed: 0,
      unpaired: 1,
    });
    expect(judging).toBe(7);
    expect(judging + Object.values(leftOut).reduce((sum, count) => sum + count)).toBe(loads.length);
    expect(cells[0]!.seeds).toEqual([1, 2, 3]);
    expect(cells[0]!.pltMs.get('h2')!.get(3)).toBe(91);
  });

  it('prefers a repeated load to a disturbed one of the same seed, in any order', () => {
    const disturbed = loadOf('h1', 1, 900, { disturbed: true });
    for (const loads of [
      [disturbed, loadOf('h1', 1, 100)],
      [loadOf('h1', 1, 100), disturbed],
    ]) {
      expect(one(...loads).pltMs.get('h1')).toEqual(new Map([[1, 100]]));
    }
  });

  it('leaves out a load with an unusual failed request, but not with one that always fails', () => {
    const always = 'https://a.test/missing';
    const loads = [1, 2, 3].flatMap((seed) => [
      failing(loadOf('h1', seed, 100), always),
      failing(loadOf('h2', seed, 100), ...(seed === 2 ? [always, 'https://a.test/once'] : [always])),
    ]);
    const { cells, leftOut } = judgeLoads(loads, networks());
    expect(leftOut).toMatchObject({ incomplete: 1, unpaired: 1 });
    expect(cells[0]!.seeds).toEqual([1, 3]);
  });

  it('separates views', () => {
    const { cells } = judgeLoads([loadOf('h1', 1, 100), loadOf('h1', 1, 50, { view: 'warm' })], networks());
    expect(cells.map(({ view }) => view)).toEqual(['cold', 'warm']);
  });

  it('says why a protocol has no times', () => {
    const { missing } = oneBlocked(
      ...series('h1', 100),
      ...series('natural', 100),
      loadOf('h2', 1, 100, { disturbed: true }),
      failedLoad('h3', 1),
    );
    expect(missing.get('h2')!.kind).toBe('disturbed');
    expect(missing.get('h3')!.kind).toBe('unreachable');
    expect(one(...series('h1', 100), loadOf('natural', 2, 100)).missing.get('natural')!.kind).toBe(
      'unpaired',
    );
  });
});

describe('loads without a load event', () => {
  it('prove nothing as the only load of a protocol, unless it is HTTP/3 without UDP', () => {
    const loads = [...series('h1', 100, 100), ...series('h2', 90, 90)];
    const { cells, leftOut } = judgeLoads([...loads, failedLoad('h3', 1)], networks());
    expect(leftOut.unconfirmed).toBe(1);
    expect(cells[0]!.missing.get('h3')!.kind).toBe('unconfirmed');
    const twice = one(...loads, failedLoad('h3', 1), failedLoad('h3', 2));
    expect(twice.missing.get('h3')!.kind).toBe('unreachable');
    expect(oneBlocked(...loads, failedLoad('h3', 1)).missing.get('h3')!.kind).toBe('unreachable');
  });

  it('count as infinitely long', () => {
    const cell = one(
      ...series('h1', 100, 100, 100),
      loadOf('h2', 1, 50),
      loadOf('h2', 2, 50),
      timeout('h2', 3),
    );
    expect(groundTruthOf(cell)!.medians).toEqual({ h1: 100, h2: 50 });
    expect(cell.pltMs.get('h2')!.get(3)).toBe(Number.POSITIVE_INFINITY);
  });

  it('exclude a protocol and its seeds from the comparison where they are the majority', () => {
    const cell = one(
      ...series('h1', 100, 100, 100),
      ...series('h2', 50, 50, 50),
      loadOf('h3', 1, 10),
      timeout('h3', 2),
    );
    expect(cell.missing.get('h3')!.kind).toBe('timeout');
    expect(cell.seeds).toEqual([1, 2, 3]);
    expect(groundTruthOf(cell)!.best).toBe('h2');
  });
});

it('recognises a protocol that does not load the page at the common seeds', () => {
  const cell = one(
    loadOf('h1', 1, 100),
    loadOf('h2', 1, 90),
    timeout('h3', 1),
    loadOf('h3', 2, 80),
    loadOf('h3', 3, 80),
  );
  expect(cell.seeds).toEqual([1]);
  expect(cell.pltMs.has('h3')).toBe(false);
  expect(cell.missing.get('h3')).toEqual({ kind: 'timeout', reason: 'no load event' });
});

describe('ground truth', () => {
  const quiet = one(
    ...series('h1', 1000, 1000, 1000),
    ...series('h2', 800, 800, 800),
    ...series('h3', 400, 400, 400),
  );

  it('ranks by medians and reports the lead of the best one', () => {
    expect(groundTruthOf(quiet)).toMatchObject({
      seeds: 3,
      medians: { h1: 1000, h2: 800, h3: 400 },
      best: 'h3',
      lead: 1,
      clear: true,
      // With three seeds nothing is decided.
      decided: false,
    });
    expect(groundTruthOf(quiet)!.agreement).toBeCloseTo(1);
  });

  it('compares over the common seeds', () => {
    const cell = one(...series('h1', 100, 100, 100, 1, 1), ...series('h2', 90, 90, 90));
    expect(groundTruthOf(cell)).toMatchObject({ seeds: 3, best: 'h2' });
  });

  it('resamples seeds, not loads, so that variation common to both protocols leaves the lead decided', () => {
    const times = [100, 900, 300, 2000, 500];
    const cell = one(...series('h1', ...times.map((time) => 1.1 * time)), ...series('h2', ...times));
    expect(groundTruthOf(cell)!.decided).toBe(true);
  });

  it('has low agreement where loads scatter more than protocols differ', () => {
    const { wins, agreement } = groundTruthOf(
      one(...series('h1', 100, 300, 200, 150, 260), ...series('h2', 300, 100, 190, 260, 150)),
    )!;
    expect(agreement).toBeLessThan(0.9);
    expect(wins.h1! + wins.h2!).toBeCloseTo(1);
  });

  it('gives the same result for a cell independently of other cells', () => {
    const noisy = [...series('h1', 100, 300, 200, 150, 260), ...series('h2', 300, 100, 190, 260, 150)];
    const elsewhere = noisy.map((load) => ({ ...load, network: 'other' }));
    const [first, second] = judgeLoads([...noisy, ...elsewhere], networks()).cells;
    expect(groundTruthOf(first!)).toEqual(groundTruthOf(second!));
  });

  it('is null with one protocol', () => {
    expect(groundTruthOf(oneBlocked(...series('h1', 100), failedLoad('h3', 1)))).toBeNull();
  });
});

describe('regret', () => {
  const blocked = [...series('h1', 1000, 1000), ...series('h2', 800, 800), failedLoad('h3', 1)];

  it('is the time over that of the best one, less 1', () => {
    const cell = one(...series('h1', 1000, 1000), ...series('h2', 800, 800));
    expect(regretOf(cell, 'h1')).toBeCloseTo(0.25);
    expect(regretOf(cell, 'h2')).toBe(0);
  });

  it('of the browser’s own choice is computed over its seeds', () => {
    const cell = one(
      ...series('h1', 2000, 1000, 1000),
      ...series('h2', 1800, 800, 800),
      loadOf('natural', 1, 1890),
    );
    expect(regretOf(cell, 'natural')).toBeCloseTo(0.05);
    expect(regretOf(cell, 'natural', [2, 3])).toBeNull();
  });

  it('of a choice that does not load the page is that of the browser’s own choice', () => {
    expect(regretOf(oneBlocked(...blocked, ...series('natural', 840, 840)), 'h3')).toBeCloseTo(0.05);
  });

  it('is HTTP/2’s after a wait where the browser’s own choice was not measured', () => {
    expect(regretOf(oneBlocked(...blocked), 'h3')).toBeCloseTo(GIVE_UP_MS / 800);
  });

  it('is judged on halves that share no seed', () => {
    // By h1's fast half of the seeds h2 looks bad, by the other half good.
    const torn = one(...series('h1', 100, 100, 1000, 1000), ...series('h2', 1000, 1000, 100, 100));
    const halves = halvesOf(torn.seeds);
    expect(halves.length).toBeGreaterThan(100);
    for (const { choosing, judging } of halves) {
      expect([...choosing, ...judging].sort()).toEqual([1, 2, 3, 4]);
    }
    // Two of six halves choose wrongly and lose everything; to the others both protocols look equal.
    expect(noiseOf(torn, halves)).toBeGreaterThan(0.2 * 9);
    expect(noiseOf(torn, halves)).toBeLessThan(0.5 * 9);
    expect(halfRegretOf(torn, 'h1', halves)).toBeCloseTo(noiseOf(torn, halves)! / 2, 0);
  });

  it('has no halves with three seeds', () => {
    expect(halvesOf([1, 2, 3])).toEqual([]);
    expect(noiseOf(oneBlocked(...blocked), [])).toBeNull();
  });
});

describe('rules', () => {
  it('chooses HTTP/3 only where UDP is open', () => {
    expect(ruleChoice('h3UnlessHindered', NETWORK)).toBe('h3');
    expect(ruleChoice('h3UnlessHindered', { ...NETWORK, udp: 'blocked' })).toBe('h2');
    expect(ruleChoice('h3UnlessHindered', { ...NETWORK, udpLoss: 0.1 })).toBe('h2');
    expect(ruleChoice('h3UnlessHindered', { ...NETWORK, udp: { policedMbps: 1 } })).toBe('h2');
  });
});
