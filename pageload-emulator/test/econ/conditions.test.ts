import { describe, expect, test } from 'vitest';
import { ClientClusters } from '../../src/econ/client-clusters.ts';
import { ConditionWindow, counted } from '../../src/econ/condition-window.ts';
import { lossByConnections } from '../../src/econ/loss-by-connections.ts';
import { lossByRound } from '../../src/econ/loss-by-round.ts';
import { lossBySegment } from '../../src/econ/loss-by-segment.ts';
import type { WindowCount } from '../../src/econ/pcwnd-files.ts';
import { createRandom } from '../../src/util/random.ts';

/** Rounds of Reno climbing between 20 and 60 segments, each losing by chance with `loss` a segment. */
function roundsWith(loss: number, rounds: number, seed: number, connections = 1, fromMs = 0, rttMs = 50) {
  const random = createRandom(seed);
  let cwnd = 20;
  return Array.from({ length: rounds }, (_, round) => {
    const lost = random() < 1 - (1 - loss) ** cwnd;
    const observed = { atMs: fromMs + round * rttMs, connections, cwnd, packets: cwnd, lost, rttMs };
    cwnd = lost || cwnd === 60 ? 20 : cwnd + 1;
    return observed;
  });
}

const rateOf = (loss: { inRound(cwnd: number): number }, cwnd = 30) => loss.inRound(cwnd) / cwnd;

describe('smoothing', () => {
  test('a prior goes where nothing was seen, and gives way where enough was', () => {
    const prior = { loss: lossBySegment(1e-3), events: 5 };
    const seen: WindowCount[] = [{ cwnd: 100, rounds: 10_000, packets: 1_000_000, lossEvents: 20_000 }];
    const loss = lossByRound(seen, prior);
    expect(rateOf(loss, 100)).toBeCloseTo(0.01, 12); // 2e-2 a segment: a loss in each round
    expect(loss.inRound(10)).toBeCloseTo(prior.loss.inRound(10), 9);
    expect(loss.inRound(400)).toBeCloseTo(prior.loss.inRound(400), 9);
    // Ten losses among 2,000 packets, and a prior worth five: 15 events of 2,000 + 5 / rate.
    const few = lossByRound([{ cwnd: 20, rounds: 100, packets: 2_000, lossEvents: 10 }], prior);
    const expected = prior.loss.inRound(20) / 20;
    expect(rateOf(few, 20)).toBeCloseTo(15 / (2_000 + 5 / expected), 9);
  });

  test('a prior that lost nothing still leaves room for a loss', () => {
    const loss = lossByRound([{ cwnd: 20, rounds: 10, packets: 200, lossEvents: 0 }], {
      loss: lossBySegment(0),
      events: 1,
    });
    expect(loss.inRound(20)).toBeGreaterThan(0);
    expect(loss.inRound(20)).toBeLessThan(1e-9);
  });
});

describe('loss by connections', () => {
  test('takes the nearest number by ratio', () => {
    const [one, four, ten] = [1e-4, 4e-4, 1e-3].map(lossBySegment);
    const loss = lossByConnections(
      new Map([
        [10, ten!],
        [1, one!],
        [4, four!],
      ]),
    );
    expect([0, 1, 2, 3, 6, 7, 40].map(loss)).toEqual([one, one, one, four, four, ten, ten]);
    expect(() => lossByConnections(new Map())).toThrow(RangeError);
  });
});

describe('sliding window', () => {
  test('follows a network that changes, within its span', () => {
    const window = new ConditionWindow();
    // 0.1% for 100 s, then 1% and a longer way.
    for (const round of roundsWith(1e-3, 2_000, 1)) window.add(round);
    const before = window.at(100_000)!;
    expect(before.rttMs).toBe(50);
    expect(rateOf(before.loss(1))).toBeGreaterThan(0.6e-3);
    expect(rateOf(before.loss(1))).toBeLessThan(1.6e-3);
    for (const round of roundsWith(1e-2, 990, 2, 1, 100_050, 120)) window.add(round);
    for (const round of roundsWith(1e-2, 10, 8, 1, 219_000, 130)) window.add(round);
    const after = window.at(221_000)!;
    // The latest ten.
    expect(after.rttMs).toBe(130);
    expect(rateOf(after.loss(1))).toBeGreaterThan(7e-3);
    expect(rateOf(after.loss(1))).toBeLessThan(12e-3);
  });

  test('keeps conditions for ten seconds, apart by connections', () => {
    const window = new ConditionWindow();
    expect(window.at(0)).toBeNull();
    for (const round of roundsWith(1e-3, 400, 3, 1)) window.add(round);
    for (const round of roundsWith(2e-2, 400, 4, 6, 20_000)) window.add(round);
    const conditions = window.at(40_000)!;
    expect(rateOf(conditions.loss(6))).toBeGreaterThan(5 * rateOf(conditions.loss(1)));
    for (const round of roundsWith(0, 100, 5, 1, 40_100)) window.add(round);
    expect(window.at(49_000)).toBe(conditions);
    expect(window.at(50_000)).not.toBe(conditions);
    expect(() => window.add({ ...roundsWith(0, 1, 6)[0]!, atMs: 1 })).toThrow(RangeError);
    // What is older than its span is gone, and with it all there was.
    expect(window.at(1_000_000)).toBeNull();
  });

  test('counts rounds by window', () => {
    expect(
      counted([
        { cwnd: 10, packets: 10, lost: false },
        { cwnd: 10, packets: 4, lost: true },
        { cwnd: 11, packets: 11, lost: false },
      ]),
    ).toEqual([
      { cwnd: 10, rounds: 2, packets: 14, lossEvents: 1 },
      { cwnd: 11, rounds: 1, packets: 11, lossEvents: 0 },
    ]);
  });
});

describe('clusters', () => {
  // Twelve clients of a near network that loses little, eight of a far one that loses much.
  const clients = Array.from({ length: 20 }, (_, client) => {
    const far = client % 5 > 2;
    const random = createRandom(100 + client);
    return {
      features: {
        lnRttMs: Math.log(far ? 160 : 25) + 0.3 * (random() - 0.5),
        lnRateMbps: Math.log(far ? 8 : 30) + 1.5 * (random() - 0.5),
      },
      counts: counted(roundsWith(far ? 1e-2 : 5e-4, 3_000, client)),
    };
  });
  const clusters = new ClientClusters(clients);

  test('are of clients that lose alike', () => {
    const far = Array.from({ length: 20 }, (_, client) => client).filter((client) => client % 5 > 2);
    expect(clusters.clusters.map((cluster) => cluster.clients.length).sort()).toEqual([12, 8].sort());
    expect(clusters.clusters.find((cluster) => cluster.clients.includes(3))!.clients).toEqual(far);
  });

  test('give a client without history the p(cwnd) of those that it resembles', () => {
    const near = clusters.lossOf({ lnRttMs: Math.log(30), lnRateMbps: Math.log(20) });
    const far = clusters.lossOf({ lnRttMs: Math.log(150), lnRateMbps: Math.log(10) });
    // Beside what all clients together show, which is right for none of them.
    const all = rateOf(lossByRound(clients.flatMap(({ counts }) => counts)));
    for (const [loss, truth] of [
      [near, 5e-4],
      [far, 1e-2],
    ] as const) {
      const error = Math.abs(Math.log(rateOf(loss) / truth));
      expect(error).toBeLessThan(0.2);
      expect(error).toBeLessThan(Math.abs(Math.log(all / truth)) / 3);
    }
  });

  test("give way to a client's own rounds", () => {
    const features = { lnRttMs: Math.log(30), lnRateMbps: Math.log(20) };
    const [few, many] = [100, 30_000].map((rounds) =>
      rateOf(clusters.lossOf(features, counted(roundsWith(5e-3, rounds, 7)))),
    );
    expect(few).toBeGreaterThan(rateOf(clusters.lossOf(features)));
    expect(few).toBeLessThan(many!);
    expect(many).toBeGreaterThan(4e-3);
  });

  test('refuse clients of which other things are known', () => {
    expect(() => clusters.clusterOf({ lnRttMs: 3 })).toThrow(
      'expected the features lnRateMbps, lnRttMs, got lnRttMs',
    );
    expect(() => clusters.clusterOf({ lnRttMs: 3, lnRateMbps: Number.NaN })).toThrow(
      'lnRateMbps: expected a number, got NaN',
    );
    expect(() => new ClientClusters([])).toThrow(RangeError);
  });
});
