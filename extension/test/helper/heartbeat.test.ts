import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Heartbeat } from '../../src/helper/heartbeat.ts';

const REST_MS = 2000;
const AGAIN_MS = 500;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function beating(ping: (heartbeat: Heartbeat) => void = () => {}) {
  const onSilent = vi.fn();
  const heartbeat: Heartbeat = new Heartbeat({ ping: () => ping(heartbeat), onSilent });
  heartbeat.start();
  return { heartbeat, onSilent };
}

test('a helper that does not answer is noticed once, within four seconds', () => {
  const { onSilent } = beating();
  vi.advanceTimersByTime(REST_MS + 4 * AGAIN_MS - 1);
  expect(onSilent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onSilent).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(60_000);
  expect(onSilent).toHaveBeenCalledOnce();
});

test('a helper that answers is left alone, also if it takes two seconds', () => {
  const { onSilent } = beating((heartbeat) => void setTimeout(() => heartbeat.noteAnswer(), 1900));
  vi.advanceTimersByTime(60_000);
  expect(onSilent).not.toHaveBeenCalled();
});

test('a helper that answers at once is asked every two seconds', () => {
  const ping = vi.fn((heartbeat: Heartbeat) => heartbeat.noteAnswer());
  beating(ping);
  vi.advanceTimersByTime(60_000);
  expect(ping).toHaveBeenCalledTimes(30);
});

test('a clock that is set does not matter', () => {
  const { heartbeat, onSilent } = beating();
  for (const hours of [24, -48, 1000]) {
    vi.setSystemTime(Date.now() + hours * 3_600_000);
    vi.advanceTimersByTime(REST_MS + AGAIN_MS);
    expect(onSilent).not.toHaveBeenCalled();
    heartbeat.noteAnswer();
  }
});

test('a helper that ends has missed no ping, one that hung before has', () => {
  const { heartbeat } = beating();
  vi.advanceTimersByTime(REST_MS);
  expect(heartbeat.isMissed).toBe(false);
  vi.advanceTimersByTime(AGAIN_MS);
  expect(heartbeat.isMissed).toBe(true);
  heartbeat.noteAnswer();
  expect(heartbeat.isMissed).toBe(false);
});

test('sends nothing after it has stopped', () => {
  const ping = vi.fn();
  const { heartbeat, onSilent } = beating(ping);
  heartbeat.stop();
  heartbeat.noteAnswer();
  vi.advanceTimersByTime(60_000);
  expect(ping).not.toHaveBeenCalled();
  expect(onSilent).not.toHaveBeenCalled();
});
