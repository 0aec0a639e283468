import { expect, it } from 'vitest';
import { sharedDelays, type WaitSpan } from '../../src/graph/shared-delays.ts';

const span = (id: number, origin: string, fromMs: number, toMs: number, excessMs: number): WaitSpan => ({
  id,
  origin,
  fromMs,
  toMs,
  excessMs,
});

it('are the least excess of what other origins waited at the same time', () => {
  const shared = sharedDelays([
    span(0, 'a', 0, 400, 300),
    span(1, 'b', 10, 350, 240),
    span(2, 'c', 20, 420, 310),
    // The same origin shares a server.
    span(3, 'a', 20, 60, 5),
  ]);
  expect(shared.get(0)).toBe(240);
  expect(shared.get(1)).toBe(5);
  expect(shared.get(2)).toBe(5);
});

it('are none where nothing else waited, or only for a while', () => {
  const shared = sharedDelays([
    span(0, 'a', 0, 400, 300),
    // 100 of 400 in common.
    span(1, 'b', 300, 700, 200),
    span(2, 'c', 1_000, 1_100, 20),
  ]);
  expect([...shared.keys()]).toEqual([]);
});
