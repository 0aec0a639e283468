import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ProcessActivity } from '../../src/engine/process-activity.ts';
import { StuckWatch } from '../../src/engine/stuck-watch.ts';

const LIMIT_MS = 2000;
const TICK_MS = LIMIT_MS / 4;
/** The limit, and the wait for the first question. */
const UNTIL_STUCK_MS = LIMIT_MS + TICK_MS;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

interface Watched {
  isBusy?: () => boolean;
  ask?: (watch: StuckWatch) => void;
  observe?: () => ProcessActivity;
}

function watch({ isBusy = () => true, ask = () => {}, observe = () => 'able' }: Watched = {}) {
  const onStuck = vi.fn();
  const made: StuckWatch = new StuckWatch({
    limitMs: LIMIT_MS,
    isBusy,
    ask: () => ask(made),
    observe,
    onStuck,
  });
  return { made, onStuck };
}

it('reports once a busy process that does not answer', () => {
  const { onStuck } = watch();
  vi.advanceTimersByTime(UNTIL_STUCK_MS - 1);
  expect(onStuck).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10 * LIMIT_MS);
  expect(onStuck).toHaveBeenCalledOnce();
});

it('leaves one that answers alone', () => {
  const { onStuck } = watch({ ask: (made) => made.noteAnswer() });
  vi.advanceTimersByTime(10 * LIMIT_MS);
  expect(onStuck).not.toHaveBeenCalled();
});

it('leaves one that answers every other question late alone', () => {
  let asked = 0;
  const { onStuck } = watch({
    ask: (made) => {
      asked += 1;
      if (asked % 2 === 0) setTimeout(() => made.noteAnswer(), TICK_MS * 2.5);
    },
  });
  vi.advanceTimersByTime(20 * LIMIT_MS);
  expect(onStuck).not.toHaveBeenCalled();
});

it('asks nothing of one that has nothing to do', () => {
  const ask = vi.fn();
  let isBusy = false;
  const { onStuck } = watch({ isBusy: () => isBusy, ask });
  vi.advanceTimersByTime(10 * LIMIT_MS);
  expect(ask).not.toHaveBeenCalled();
  isBusy = true;
  vi.advanceTimersByTime(LIMIT_MS);
  isBusy = false;
  vi.advanceTimersByTime(LIMIT_MS);
  isBusy = true;
  vi.advanceTimersByTime(LIMIT_MS);
  expect(onStuck).not.toHaveBeenCalled();
});

it('waits fifteen seconds for one that gets no processor time', () => {
  const { onStuck } = watch({ observe: () => 'starved' });
  vi.advanceTimersByTime(15_000);
  expect(onStuck).not.toHaveBeenCalled();
  vi.advanceTimersByTime(TICK_MS);
  expect(onStuck).toHaveBeenCalledOnce();
});

it('waits without limit for one in a debugger', () => {
  const { onStuck } = watch({ observe: () => 'debugged' });
  vi.advanceTimersByTime(3_600_000);
  expect(onStuck).not.toHaveBeenCalled();
});

it('a clock that is set, and a machine that sleeps, count as one question at most', () => {
  let sinceAnswer = 0;
  const { onStuck, made } = watch({ ask: () => (sinceAnswer += 1) });
  for (let sleep = 0; sleep < 10; sleep += 1) {
    vi.advanceTimersByTime(TICK_MS * 2);
    vi.setSystemTime(Date.now() + (sleep % 2 === 0 ? 86_400_000 : -86_400_000));
    // The answer to the question before it slept arrives after the first tick.
    vi.advanceTimersByTime(TICK_MS);
    made.noteAnswer();
  }
  expect(sinceAnswer).toBe(30);
  expect(onStuck).not.toHaveBeenCalled();
});

it('ends with its process', () => {
  const { made, onStuck } = watch();
  made.stop();
  vi.advanceTimersByTime(10 * LIMIT_MS);
  expect(onStuck).not.toHaveBeenCalled();
});
