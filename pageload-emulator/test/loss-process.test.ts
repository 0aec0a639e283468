import { expect, it } from 'vitest';
import { LossProcess } from '../src/transport/loss.ts';

const LOSS = 0.05;

it('loses a retransmission as often as any packet, once a timer has run for longer than bursts last', () => {
  const process = new LossProcess(LOSS, 50, 3);
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
