import { expect, it, vi } from 'vitest';
import { TimerQueue } from '../../src/rounds/timer-queue.ts';

it('runs in order of time, whatever the order of asking', async () => {
  const list = new TimerQueue();
  const ran: string[] = [];
  const now = performance.now();
  list.at(now + 30, () => ran.push('third'));
  list.at(now + 10, () => ran.push('first'));
  list.at(now + 10, () => ran.push('second'));
  await vi.waitFor(() => expect(ran).toEqual(['first', 'second', 'third']));
});

it('rests through a wait that is longer than a timer of Node', async () => {
  const armed = vi.spyOn(globalThis, 'setTimeout');
  const list = new TimerQueue();
  list.at(1e300, () => {});
  const [, ms] = armed.mock.lastCall!;
  expect(ms).toBe(2 ** 31 - 1);
  list.clear();
  armed.mockRestore();
});
