import { describe, expect, it } from 'vitest';
import { AckClock } from '../../src/transport/ack-clock.ts';
import { Burst } from '../../src/transport/burst.ts';
import { EventQueue } from '../../src/transport/event-queue.ts';

const BASE_RTT_MS = 32;

/** A burst of ten packets; its five acknowledgements are 2 ms apart. */
function burstOf(delivered = 10): Burst {
  const burst = new Burst();
  Object.assign(burst, { packets: 10, delivered, spanMs: 9 });
  return burst;
}

/** A clock whose sender notes when it is woken. */
function clockAt() {
  const events = new EventQueue();
  const wokenMs: number[] = [];
  const sender = {
    handle: () => {
      wokenMs.push(events.now);
      clock.wake();
    },
  };
  const clock = new AckClock(events, sender, 7, BASE_RTT_MS);
  const run = () => {
    while (events.step());
  };
  return { clock, events, wokenMs, run };
}

describe('the acknowledgement clock', () => {
  it('wakes the sender for the first acknowledgement of a whole burst, and for the last one where packets are missing', () => {
    for (const [delivered, atMs] of [
      [10, 92],
      [9, 100],
    ] as const) {
      const { clock, wokenMs, run } = clockAt();
      clock.add(burstOf(delivered), 100);
      clock.await(true);
      run();
      expect(wokenMs).toEqual([atMs]);
    }
  });

  it('leaves a sender alone that waits for nothing', () => {
    const { clock, events, wokenMs, run } = clockAt();
    clock.add(burstOf(), 100);
    clock.await(false);
    run();
    expect(wokenMs).toEqual([]);
    expect(clock.takeArrived()).toBeNull();
    events.now = 100;
    expect(clock.takeArrived()).not.toBeNull();
    expect(clock.takeArrived()).toBeNull();
  });

  it('says how many packets have arrived, and when', () => {
    const { clock, events } = clockAt();
    const burst = burstOf(8);
    burst.share = 0.5;
    clock.arriving = 8;
    clock.add(burst, 100);
    clock.await(true);
    expect(clock.isStalled).toBe(false);
    events.now = 100;
    clock.takeArrived();
    expect(clock.ack).toMatchObject({ atMs: 100, packets: 4 });
    expect(clock.isStalled).toBe(true);
  });

  it('counts a burst without acknowledgements of its own as arrived before', () => {
    const { clock, events } = clockAt();
    const burst = burstOf();
    burst.allAcksLost = true;
    clock.add(burst, 100);
    expect(burst.firstAckMs).toBe(100);
    events.now = 100;
    clock.takeArrived();
    expect(clock.arriving).toBe(0);
  });

  it('takes with the first burst those that follow within a 32nd of a round trip', () => {
    const { clock, events } = clockAt();
    // The last acknowledgements of the second and third come 1 ms and 3 ms after the first's.
    const bursts = [100, 101, 103].map((ackMs) => {
      const burst = burstOf(9);
      clock.add(burst, ackMs);
      return burst;
    });
    events.now = 100;
    expect(clock.takeNoticed(100, true)).toBe(bursts[0]);
    // None was taken before whose acknowledgements still arrive.
    expect(clock.takeNoticed(100, true)).toBeNull();
    expect(clock.takeNoticed(100.5, false)).toBeNull();
    expect(clock.takeNoticed(100.5, true)).toBe(bursts[1]);
    expect(clock.takeNoticed(101, true)).toBeNull();
  });
});
