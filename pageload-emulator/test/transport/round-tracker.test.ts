import { expect, it } from 'vitest';
import { Burst } from '../../src/transport/burst.ts';
import { RoundTracker } from '../../src/transport/round-tracker.ts';

function burstAt(index: number): Burst {
  const burst = new Burst();
  burst.index = index;
  return burst;
}

it('begins a round with the first acknowledgement of what was sent after the last one began', () => {
  const rounds = new RoundTracker();
  rounds.nextBurst = 3;
  // What is acknowledged from here on until burst 3 was sent before the round began.
  expect([0, 1, 2].map((index) => rounds.onAck(burstAt(index), 5))).toEqual([true, false, false]);
  rounds.nextBurst = 9;
  expect([3, 4, 8].map((index) => rounds.onAck(burstAt(index), 5))).toEqual([true, false, false]);
});

it('counts a window as used by the most packets in flight in this round and the last', () => {
  const rounds = new RoundTracker();
  rounds.onSent(10);
  rounds.onSent(4);
  expect([19, 20].map((window) => rounds.isHalfUsed(window))).toEqual([true, false]);
  rounds.nextBurst = 1;
  rounds.onAck(burstAt(0), 2);
  expect(rounds.isHalfUsed(19)).toBe(true);
  rounds.nextBurst = 2;
  rounds.onAck(burstAt(1), 2);
  expect([3, 4].map((window) => rounds.isHalfUsed(window))).toEqual([true, false]);
});

it('counts the responses that were sent at the same time within a round', () => {
  const rounds = new RoundTracker();
  expect([2, 5, 1].map((streams) => rounds.noteStreams(streams))).toEqual([2, 5, 5]);
  rounds.onAck(burstAt(0), 0);
  expect(rounds.noteStreams(1)).toBe(1);
});
