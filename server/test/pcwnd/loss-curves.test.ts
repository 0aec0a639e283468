import { parsePcwndCounts } from '@hopwise/pageload-emulator/econ';
import { describe, expect, it } from 'vitest';
import { countRounds } from '../../src/pcwnd/count-rounds.ts';
import { LossCurves } from '../../src/pcwnd/loss-curves.ts';
import { makeSocket } from '../support/sockets.ts';

describe('rounds', () => {
  it('are those of a slow start from the initial window', () => {
    // 10, 20 and the remaining 40 of 70 segments.
    expect(countRounds(makeSocket({ segments: 70 }), null, 10)).toEqual(
      [
        { cwnd: 10, rounds: 1, packets: 10, lossEvents: 0 },
        { cwnd: 20, rounds: 1, packets: 20, lossEvents: 0 },
        { cwnd: 40, rounds: 1, packets: 40, lossEvents: 0 },
      ]
        .slice(0, 2)
        .concat({ cwnd: 40, rounds: 1, packets: 40, lossEvents: 0 }),
    );
  });

  it('have the loss at the window that its threshold was left by', () => {
    // 21 / 0.7 = 30 segments, and 18 with which the rest was sent.
    const socket = makeSocket({ segments: 120, retransmitted: 8, ssthresh: 21, cwnd: 20 });
    expect(countRounds(socket, null, 10)).toEqual([
      { cwnd: 10, rounds: 1, packets: 10, lossEvents: 0 },
      { cwnd: 20, rounds: 1, packets: 20, lossEvents: 0 },
      { cwnd: 30, rounds: 1, packets: 30, lossEvents: 1 },
      { cwnd: 20, rounds: 3, packets: 60, lossEvents: 0 },
    ]);
  });

  it('of a connection that was seen before are those since', () => {
    const before = { segments: 70, retransmitted: 2 };
    const socket = makeSocket({ segments: 150, retransmitted: 2, cwnd: 40, ssthresh: 28 });
    expect(countRounds(socket, before, 10)).toEqual([{ cwnd: 40, rounds: 2, packets: 80, lossEvents: 0 }]);
    expect(countRounds(socket, { segments: 150, retransmitted: 2 }, 10)).toEqual([]);
  });
});

const round = (cwnd: number, rounds: number, lossEvents = 0) => ({
  cwnd,
  rounds,
  packets: cwnd * rounds,
  lossEvents,
});

const client = (name: string, narrow = 'narrow', wide = 'wide') => ({ name, narrow, wide });

describe('curves', () => {
  it("are a client's own once it has sent enough, and before that its cluster's median", () => {
    const curves = new LossCurves();
    curves.add(client('a'), 1, [round(10, 40, 4)], 0);
    curves.add(client('b'), 1, [round(10, 40, 8)], 0);
    curves.add(client('c'), 1, [round(10, 20, 20)], 0);
    curves.add(client('elsewhere', 'other', 'other'), 1, [round(10, 100, 100)], 0);
    expect(curves.read(client('a'), null, 1)).toEqual([round(10, 40, 4)]);
    // Rates of 0.1, 0.2 and 1: a fifth of 100 rounds.
    expect(curves.read(client('new'), null, 1)).toEqual([round(10, 100, 20)]);
  });

  it('of a new prefix are those of the wider cluster, until the prefix has sent enough', () => {
    const curves = new LossCurves();
    curves.add(client('a'), 1, [round(10, 40, 4)], 0);
    curves.add(client('b', 'new prefix'), 1, [round(10, 20, 20)], 0);
    expect(curves.read(client('new', 'new prefix'), null, 1)).toEqual([round(10, 60, 24)]);
    curves.add(client('b', 'new prefix'), 1, [round(10, 20, 0)], 1);
    expect(curves.read(client('new', 'new prefix'), null, 1)).toEqual([round(10, 40, 20)]);
    expect(curves.read(client('new', 'other', 'other'), null, 1)).toEqual([]);
  });

  it('tell numbers of parallel connections apart and forget after 100 s', () => {
    const curves = new LossCurves();
    curves.add(client('a'), 1, [round(10, 40)], 0);
    curves.add(client('a'), 9, [round(20, 40, 2)], 50_000);
    expect(curves.read(client('a'), 6, 60_000)).toEqual([round(20, 40, 2)]);
    expect(curves.read(client('a'), null, 60_000)).toHaveLength(2);
    expect(curves.read(client('a'), null, 120_000)).toEqual([round(20, 40, 2)]);
    expect(curves.read(client('a'), null, 200_000)).toEqual([]);
  });

  it('are counts that ECON reads', () => {
    const curves = new LossCurves();
    curves.add(client('a'), 2, countRounds(makeSocket({ retransmitted: 3, ssthresh: 5 }), null, 10), 0);
    const windows = curves.read(client('a'), null, 1);
    const text = JSON.stringify({ format: 'hopwise-pcwnd', version: 1, windows });
    expect(parsePcwndCounts(text)).toEqual(windows);
  });
});
