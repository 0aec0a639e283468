import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StuckWatch } from '../src/engine/stuck-watch.ts';

const LIMIT_MS = 900;
/** The limit, and the wait for the first question. */
const UNTIL_STUCK_MS = (LIMIT_MS / 3) * 4;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function watch(isBusy: () => boolean, ask: (watch: StuckWatch) => void = () => {}) {
  const onStuck = vi.fn();
  const made: StuckWatch = new StuckWatch({ limitMs: LIMIT_MS, isBusy, ask: () => ask(made), onStuck });
  return { made, onStuck };
}

it('reports once a busy process that does not answer', () => {
  const { onStuck } = watch(() => true);
  vi.advanceTimersByTime(UNTIL_STUCK_MS - 1);
  expect(onStuck).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10 * LIMIT_MS);
  expect(onStuck).toHaveBeenCalledOnce();
});

it('leaves one that answers alone', () => {
  const { onStuck } = watch(
    () => true,
    (made) => made.answered(),
  );
  vi.advanceTimersByTime(10 * LIMIT_MS);
  expect(onStuck).not.toHaveBeenCalled();
});

it('asks nothing of one that has nothing to do', () => {
  const ask = vi.fn();
  let isBusy = false;
  const { onStuck } = watch(() => isBusy, ask);
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

it('ends with its process', () => {
  const { made, onStuck } = watch(() => true);
  made.stop();
  vi.advanceTimersByTime(10 * LIMIT_MS);
  expect(onStuck).not.toHaveBeenCalled();
});
