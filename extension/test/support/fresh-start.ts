/**
 * A set-up file of Vitest, for files of tests that share a process: each has the extension's modules anew, as they keep state, and its
 * timers end with it. What is of npm stays loaded.
 */
import { afterAll, vi } from 'vitest';

vi.resetModules();

const { setTimeout, setInterval } = globalThis;
const timers = new Set<NodeJS.Timeout>();

function remember<T extends typeof setTimeout | typeof setInterval>(start: T): T {
  const remembering = (...words: Parameters<typeof setTimeout>) => {
    const timer = start(...words);
    timers.add(timer);
    return timer;
  };
  return Object.assign(remembering, start) as unknown as T;
}

Object.assign(globalThis, { setTimeout: remember(setTimeout), setInterval: remember(setInterval) });

afterAll(() => {
  vi.useRealTimers();
  for (const timer of timers) clearTimeout(timer);
  Object.assign(globalThis, { setTimeout, setInterval });
});
