import { describe, expect, it } from 'vitest';
import { BottleneckPath } from '../../../src/transport/path/bottleneck-path.ts';
import { BottleneckQueue } from '../../../src/transport/path/bottleneck-queue.ts';
import { BurstLoss, LossProcess } from '../../../src/transport/path/loss.ts';
import { Policer } from '../../../src/transport/path/policer.ts';

/** Loses the second of every burst's packets. */
class LoseSecond extends LossProcess {
  readonly seen: number[] = [];
  settled = 0;

  lostOf(packets: number): number[] | null {
    this.seen.push(packets);
    return packets > 1 ? [1] : null;
  }

  settle(): void {
    this.settled++;
  }
}

// 8 Mbit/s: 1000 bytes a millisecond.
const RATE = 8e6;

describe('the path through a bottleneck', () => {
  it('lets each element act on what the one before has left', () => {
    const loss = new LoseSecond();
    const queue = new BottleneckQueue(RATE, 3_000);
    const path = new BottleneckPath(new Policer(RATE, 6_000), queue, loss);
    // The policer has tokens for six of eight packets; one is sent and three find room; the second of those four is lost.
    const { policed, queueDrops, lost, packets } = path.send(10, 0, 8, 1_000);
    expect({ policed, queueDrops, lost, packets }).toEqual({
      policed: 2,
      queueDrops: 2,
      lost: [1],
      packets: 3,
    });
    expect(loss.seen).toEqual([4]);
    expect(queue.busyUntilMs).toBe(14);
  });

  it('shows when the first and the last packet leave', () => {
    const path = new BottleneckPath(new BottleneckQueue(RATE, 1e6), new BurstLoss(0, 1, 1));
    expect(path.send(10, 0, 4, 1_000)).toMatchObject({ packets: 4, firstLeavesMs: 11, leavesMs: 14 });
    // Behind the first burst, and spread over 20 ms: the last packet does not wait.
    expect(path.send(12, 20, 2, 1_000)).toMatchObject({ packets: 2, firstLeavesMs: 15, leavesMs: 33 });
  });

  it('draws no loss for a burst that finds no room', () => {
    const loss = new LoseSecond();
    const path = new BottleneckPath(new Policer(RATE, 500), new BottleneckQueue(RATE, 0), loss);
    expect(path.send(0, 0, 5, 1_000)).toMatchObject({ packets: 0, policed: 5, queueDrops: 0, lost: null });
    expect(loss.seen).toEqual([]);
    path.settle();
    expect(loss.settled).toBe(1);
  });
});
