import { expect, it } from 'vitest';
import { LossCounter } from '../../src/curl/loss-counter.ts';
import type { TcpInfo } from '../../src/curl/tcp-info.ts';
import { randomLosses } from '../../src/probe/random-losses.ts';

const SEGMENT = 1000;

/** A connection whose socket is read after each step. */
class Connection {
  readonly counter = new LossCounter();
  #segments = 0;
  #outOfOrder = 0;
  #bytes = 0;

  /**
   * @param outOfOrder segments that arrived behind a gap
   * @param inOrder segments that arrived in order
   * @param releasedBytes bytes behind a gap that these filled
   */
  step(outOfOrder: number, inOrder: number, releasedBytes = 0, queueMs = 0): this {
    this.#segments += outOfOrder + inOrder;
    this.#outOfOrder += outOfOrder;
    this.#bytes += inOrder * SEGMENT + releasedBytes;
    const info: TcpInfo = {
      minRttMs: 20,
      rttMs: 20,
      dataSegmentsIn: this.#segments,
      dataSegmentsOut: 1,
      retransmitted: 0,
      bytesIn: this.#bytes,
      sendingBps: null,
      maxSegmentBytes: SEGMENT,
      receiverRttMs: 20 + queueMs,
      outOfOrder: this.#outOfOrder,
    };
    this.counter.observe(info);
    return this;
  }

  get counted(): [events: number, lost: number] {
    return [this.counter.events, this.counter.lost];
  }
}

it('counts nothing without a gap', () => {
  expect(new Connection().step(0, 10).step(0, 3).counted).toEqual([0, 0]);
});

it('counts a run by the retransmissions up to the release', () => {
  // Three lost with 6 behind them, retransmitted one by one.
  const connection = new Connection().step(0, 4).step(6, 0).step(0, 1).step(0, 1);
  expect(connection.counted).toEqual([0, 0]);
  expect(connection.step(0, 1, 6 * SEGMENT).counted).toEqual([1, 3]);
  expect(connection.step(0, 5).counted).toEqual([1, 3]);
});

it('counts two runs of one flight', () => {
  const connection = new Connection().step(9, 0).step(0, 1, 4 * SEGMENT);
  expect(connection.step(0, 1).step(0, 1, 5 * SEGMENT).counted).toEqual([2, 3]);
});

it('does not count segments before a gap that is noticed with them', () => {
  expect(new Connection().step(2, 3).step(0, 1, 2 * SEGMENT).counted).toEqual([1, 1]);
});

it('sees the end of a gap behind which segments were short', () => {
  const single = new Connection().step(1, 0).step(0, 1, 40);
  expect(single.step(0, 8).counted).toEqual([1, 1]);
  // 9 segments of 700 bytes: ceil(6.3) = 7 of 9 released, the other 2 are within a third.
  const several = new Connection().step(9, 0).step(0, 1, 9 * 700);
  expect(
    several
      .step(0, 8)
      .step(3, 0)
      .step(0, 1, 3 * SEGMENT).counted,
  ).toEqual([2, 2]);
});

it('gives up a gap whose end was missed', () => {
  const connection = new Connection().step(1, 0);
  for (let segment = 0; segment < 200; segment += 1) connection.step(0, 1);
  expect(connection.step(2, 0).step(0, 1, 2 * SEGMENT).counted).toEqual([1, 1]);
});

it('leaves out what was lost while the queue was full', () => {
  const connection = new Connection();
  for (let packet = 0; packet < 300; packet += 1) connection.step(0, 1, 0, packet < 200 ? 10 : 150);
  // Noticed at a delay of 150 ms, the highest.
  connection.step(5, 0, 0, 150).step(0, 2, 5 * SEGMENT, 150);
  connection
    .step(0, 1, 0, 10)
    .step(4, 0, 0, 10)
    .step(0, 1, 4 * SEGMENT, 10);
  expect(connection.counter.events).toBe(2);
  const atDelay = connection.counter.atRtt.map(({ rttMs, ...losses }) => ({
    ...losses,
    queueMs: rttMs - 20,
  }));
  // 200 packets between the first figures and those of the higher delay, 5 after the lower one again, and 1 lost.
  expect(randomLosses(atDelay)).toEqual({ packets: 206, events: 1, lost: 1 });
});

it('gives no random loss for fewer than 100 packets', () => {
  expect(randomLosses([{ queueMs: 0, packets: 99, events: 0, lost: 0 }])).toBeUndefined();
  expect(randomLosses([{ queueMs: 0, packets: 99, events: 1, lost: 1 }])).toEqual({
    packets: 100,
    events: 1,
    lost: 1,
  });
});
