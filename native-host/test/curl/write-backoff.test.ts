import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WriteBackoff } from '../../src/curl/write-backoff.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A socket that always has room for more. */
class Writable {
  events = 0;
  uploadedBytes = 0;
  /** Bytes that each event sends. */
  bytesPerEvent = 0;
  readonly backoff = new WriteBackoff(() => this.poll());

  /** Takes events until there is a delay, or `limit`. */
  poll(limit = 100): void {
    for (let left = limit; left > 0 && !this.backoff.isDelaying; left -= 1) {
      this.events += 1;
      this.uploadedBytes += this.bytesPerEvent;
      this.backoff.onWritable(this.uploadedBytes);
    }
  }
}

it('doubles the delay of useless events up to 128 ms', () => {
  const socket = new Writable();
  socket.poll();
  expect(socket.events).toBe(8);
  // 1 + 2 + 4 + ... + 128 = 255 ms: eight delays, with one event after each.
  vi.advanceTimersByTime(254);
  expect(socket.events).toBe(15);
  vi.advanceTimersByTime(1);
  expect(socket.events).toBe(16);
  vi.advanceTimersByTime(10 * 128);
  expect(socket.events).toBe(26);
});

it('does not delay events that send something', () => {
  const socket = new Writable();
  socket.bytesPerEvent = 1;
  socket.poll(1000);
  expect(socket.events).toBe(1000);
  socket.bytesPerEvent = 0;
  // The last event that sent something is the first of the eight.
  socket.poll(1000);
  expect(socket.events).toBe(1007);
  expect(socket.backoff.isDelaying).toBe(true);
});

it('ends a delay at once when something arrives, and begins with the shortest again', () => {
  const socket = new Writable();
  socket.poll();
  vi.advanceTimersByTime(300);
  socket.backoff.restart();
  expect(socket.backoff.isDelaying).toBe(false);
  const { events } = socket;
  vi.advanceTimersByTime(1000);
  expect(socket.events).toBe(events);
  socket.poll();
  expect(socket.events).toBe(events + 1);
  vi.advanceTimersByTime(1);
  expect(socket.events).toBe(events + 2);
});

it('calls no one after a stop', () => {
  const socket = new Writable();
  socket.poll();
  socket.backoff.stop();
  vi.advanceTimersByTime(1000);
  expect(socket.events).toBe(8);
});
