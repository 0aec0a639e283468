import { describe, expect, it } from 'vitest';
import { BottleneckQueue } from '../../../src/transport/path/bottleneck-queue.ts';

describe('the bottleneck’s queue', () => {
  it('serialises in order of arrival', () => {
    // 8 Mbit/s: 1000 bytes a millisecond.
    const link = new BottleneckQueue(8e6, 3_000);
    expect(link.serialise(10, 1_000)).toBe(11);
    expect(link.serialise(10, 1_000)).toBe(12);
    expect(link.serialise(20, 500)).toBe(20.5);
  });

  it('drops packets beyond its queue', () => {
    const link = new BottleneckQueue(8e6, 3_000);
    // One on the wire, three in the queue.
    expect(link.room(0, 10, 1_000)).toBe(4);
    link.serialise(0, 4_000);
    expect(link.room(0, 10, 1_000)).toBe(0);
    expect(link.room(1.5, 10, 1_000)).toBe(1);
    expect(link.room(9, 2, 1_000)).toBe(2);
  });
});
