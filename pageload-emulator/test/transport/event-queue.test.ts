import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventQueue } from '../../src/transport/event-queue.ts';
import { SegmentQueue, type Stream } from '../../src/transport/stream.ts';

describe('event queue', () => {
  it('orders events by time, then by order of scheduling', () => {
    const queue = new EventQueue();
    const seen: number[] = [];
    const handler = { handle: (kind: number) => void seen.push(kind) };
    const times = [5, 3, 5, 1, 3, 9, 0, 5];
    for (const [kind, at] of times.entries()) queue.schedule(at, handler, kind);
    while (queue.step());
    expect(seen).toEqual([6, 3, 1, 4, 0, 2, 7, 5]);
    expect(queue.now).toBe(9);
  });

  it('orders events of heap, lanes and rare handlers by time, then by order of scheduling', () => {
    const event = fc.record({ at: fc.nat(20), way: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), (events) => {
        const queue = new EventQueue();
        const lanes = [queue.createLane(), queue.createLane()];
        const seen: number[] = [];
        const handler = { handle: (kind: number) => void seen.push(kind) };
        for (const [kind, { at, way }] of events.entries()) {
          if (way === 0) queue.schedule(at, handler, kind);
          else if (way === 1) queue.scheduleRare(at, handler, kind);
          // Some are not in order of time.
          else queue.append(lanes[way - 2]!, at, handler, kind);
        }
        while (queue.step());
        const expected = events
          .map(({ at }, kind) => ({ at, kind }))
          .sort((a, b) => a.at - b.at || a.kind - b.kind);
        expect(seen).toEqual(expected.map(({ kind }) => kind));
      }),
    );
  });

  it('handles events scheduled meanwhile, and never goes back in time', () => {
    const queue = new EventQueue();
    const lane = queue.createLane();
    const seen: [number, number][] = [];
    const handler = {
      handle: (kind: number) => {
        seen.push([kind, queue.now]);
        if (kind === 1) {
          queue.schedule(2, handler, 2);
          queue.append(lane, 7, handler, 3);
        }
      },
    };
    queue.schedule(5, handler, 1);
    queue.append(lane, 6, handler, 4);
    while (queue.step());
    expect(seen).toEqual([
      [1, 5],
      [2, 5],
      [4, 6],
      [3, 7],
    ]);
    expect(queue.step()).toBe(false);
  });
});

describe('segments', () => {
  const stream = {} as Stream;

  it('keep all bytes when they are split', () => {
    const queue = new SegmentQueue();
    queue.push({ stream, bytes: 10, offset: 0, ends: false, heldSinceMs: 0, next: null });
    queue.push({ stream, bytes: 5, offset: 10, ends: true, heldSinceMs: 0, next: null });
    const taken = [4, 100, 3, 3, 3].map((bytes) => queue.shiftBytes(bytes));
    expect(taken.map((segment) => segment && [segment.offset, segment.bytes, segment.ends])).toEqual([
      [0, 4, false],
      [4, 6, false],
      [10, 3, false],
      [13, 2, true],
      null,
    ]);
  });
});
