import { describe, expect, it } from 'vitest';
import { BurstLoss, JointLoss } from '../../../src/transport/path/loss.ts';

const LOSS = 0.05;

it('loses a retransmission as often as any packet, once a timer has run for longer than bursts last', () => {
  const process = new BurstLoss(LOSS, 50, 3);
  let bursts = 0;
  let repeatedInVain = 0;
  let settledInVain = 0;
  for (let packet = 0; packet < 400_000; packet++) {
    if (process.lostOf(1) === null) continue;
    bursts++;
    if (bursts % 2 === 0) {
      // At once: the burst goes on for 49 of 50.
      if (process.lostOf(1) !== null) repeatedInVain++;
    } else {
      process.settle();
      if (process.lostOf(1) !== null) settledInVain++;
    }
  }
  expect(bursts).toBeGreaterThan(300);
  expect(repeatedInVain / (bursts / 2)).toBeGreaterThan(0.9);
  expect(settledInVain / (bursts / 2)).toBeGreaterThan(LOSS / 2);
  expect(settledInVain / (bursts / 2)).toBeLessThan(2 * LOSS);
});

it('joins bursts of the path with single losses of UDP', () => {
  const packets = 400_000;
  const joint = new JointLoss(new BurstLoss(0.01, 5, 1), new BurstLoss(0.03, 1, 2));
  const lost = Array.from({ length: packets / 10 }, (_, flight) =>
    (joint.lostOf(10) ?? []).map((position) => 10 * flight + position),
  ).flat();
  const runs = lost.filter((packet, index) => index === 0 || lost[index - 1] !== packet - 1).length;
  // 1 − 0.99 × 0.97 of the packets.
  expect(lost.length / packets).toBeCloseTo(0.0397, 2);
  // 100 packets have 0.2 bursts of 5, and 3 single losses.
  expect(lost.length / runs).toBeCloseTo(4 / 3.2, 1);
  expect(new JointLoss(new BurstLoss(0, 1, 1), new BurstLoss(0, 1, 2)).lostOf(1e9)).toBeNull();
});

describe('loss', () => {
  const share = (loss: number, burst: number) => {
    const process = new BurstLoss(loss, burst, 7);
    let lost = 0;
    let bursts = 0;
    let last = -2;
    for (let sent = 0; sent < 400_000; sent += 8) {
      for (const at of process.lostOf(8) ?? []) {
        lost++;
        if (sent + at !== last + 1) bursts++;
        last = sent + at;
      }
    }
    return { share: lost / 400_000, burst: lost / bursts };
  };

  it('loses the given share, one by one or in bursts', () => {
    expect(share(0.02, 1).share).toBeCloseTo(0.02, 3);
    const bursty = share(0.02, 4);
    expect(bursty.share).toBeGreaterThan(0.018);
    expect(bursty.share).toBeLessThan(0.022);
    expect(bursty.burst).toBeGreaterThan(3.6);
    expect(bursty.burst).toBeLessThan(4.4);
  });

  it('loses nothing on a clean path', () => {
    expect(new BurstLoss(0, 1, 1).lostOf(1e9)).toBeNull();
  });
});
