import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrioritySource } from '../../src/http/response-source.ts';
import { UrgencyQueue } from '../../src/http/urgency-queue.ts';
import { streamOf } from '../support/streams.ts';

/** Ids and bytes in order of sending, with packets of 100 bytes. */
function sent(source: PrioritySource, room = 100): [number, number][] {
  const order: [number, number][] = [];
  for (let { next } = source; next !== null; next = source.next)
    order.push([next.id, source.take(room, 100)]);
  return order;
}

describe('responses on a shared connection', () => {
  it('take turns of a packet at a server that ignores priorities', () => {
    const source = new PrioritySource(false);
    for (const stream of [streamOf(1, 250, 0, false), streamOf(2, 100, 5), streamOf(3, 150)]) {
      source.add(stream);
    }
    expect(sent(source)).toEqual([
      [1, 100],
      [2, 100],
      [3, 100],
      [1, 100],
      [3, 50],
      [1, 50],
    ]);
    expect(source.empty).toBe(true);
  });

  it('go by urgency, non-incremental ones in order of request and before incremental ones', () => {
    const source = new PrioritySource(true);
    for (const stream of [
      streamOf(9, 200, 3, true),
      streamOf(8, 150, 3, true),
      streamOf(7, 150, 3, false),
      streamOf(4, 150, 3, false),
      streamOf(6, 100, 0, true),
    ]) {
      source.add(stream);
    }
    const order = sent(source).map(([id]) => id);
    expect(order).toEqual([6, 4, 4, 7, 7, 9, 8, 9, 8]);
  });

  it('share a burst', () => {
    const source = new PrioritySource(false);
    for (let id = 0; id < 4; id++) source.add(streamOf(id, 1_000));
    expect(source.take(1_000, 100)).toBe(250);
    expect(source.take(750, 100)).toBe(188);
  });

  it('are sent completely and once, in any order of readiness', () => {
    const responses = fc.array(
      fc.record({
        bytes: fc.integer({ min: 1, max: 1_000 }),
        urgency: fc.nat(7),
        incremental: fc.boolean(),
        after: fc.nat(20),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(responses, fc.boolean(), (list, honoured) => {
        const source = new PrioritySource(honoured);
        const got = new Map<number, number>();
        const streams = list.map(({ bytes, urgency, incremental }, id) =>
          streamOf(id, bytes, urgency, incremental),
        );
        const ready = list.map(({ after }, id) => ({ after, id })).sort((a, b) => a.after - b.after);
        let turn = 0;
        while (ready.length > 0 || !source.empty) {
          while (ready.length > 0 && (ready[0]!.after <= turn || source.empty)) {
            source.add(streams[ready.shift()!.id]!);
          }
          turn++;
          const waiting = streams.filter(
            (stream, id) => stream.unwritten > 0 && !ready.some((r) => r.id === id),
          );
          const { id, urgency } = source.next!;
          if (honoured) {
            expect(urgency).toBe(Math.min(...waiting.map((stream) => stream.urgency)));
          }
          got.set(id, (got.get(id) ?? 0) + source.take(150, 100));
        }
        expect(source.next).toBeNull();
        expect(source.take(100, 100)).toBe(0);
        for (const [id, { bytes }] of list.entries()) expect(got.get(id)).toBe(bytes);
      }),
    );
  });
});

describe('waiting requests', () => {
  it('go by urgency, then by arrival', () => {
    const queue = new UrgencyQueue();
    expect(queue.shift()).toBeUndefined();
    for (const [id, urgency] of [3, 0, 3, 7, 0].entries()) queue.push(streamOf(id, 1, urgency));
    expect(queue.urgency).toBe(0);
    expect(queue.length).toBe(5);
    const ids = [1, 2, 3, 4, 5].map(() => queue.shift()!.id);
    expect(ids).toEqual([1, 4, 0, 2, 3]);
    expect(queue.length).toBe(0);
  });
});
