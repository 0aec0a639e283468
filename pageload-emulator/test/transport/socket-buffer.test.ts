import { describe, expect, it } from 'vitest';
import { PrioritySource } from '../../src/http/response-source.ts';
import { SocketBuffer } from '../../src/transport/socket-buffer.ts';
import type { Stream } from '../../src/transport/stream.ts';
import { streamOf } from '../support/streams.ts';

const PACKET = 1_430;

const response = (id: number, bytes: number, urgency = 3, incremental = false): Stream =>
  streamOf(id, bytes, urgency, incremental);

/** Takes up to so many bytes, a packet at a time. @returns the bytes of each response in the order of sending */
function send(buffer: SocketBuffer, bytes: number): [number, number][] {
  const sent: [number, number][] = [];
  for (let left = bytes; left > 0; ) {
    const stream = buffer.next;
    if (stream === null) break;
    const taken = buffer.take(Math.min(left, PACKET));
    left -= taken;
    const last = sent.at(-1);
    if (last?.[0] === stream.id) last[1] += taken;
    else sent.push([stream.id, taken]);
  }
  return sent;
}

describe('what was written to a socket', () => {
  it('goes before a more urgent response that is ready later', () => {
    const buffer = new SocketBuffer(new PrioritySource(true), { windowBytes: 14_300, inFlightBytes: 0 });
    buffer.add(response(1, 200_000));
    buffer.add(response(2, 5_000, 1));
    expect(send(buffer, 300_000)).toEqual([
      [1, 80_000],
      [2, 5_000],
      [1, 120_000],
    ]);
    expect(buffer.empty).toBe(true);
  });

  it('is less by what is in flight, for which the socket keeps room', () => {
    const window = { windowBytes: 50_050, inFlightBytes: 50_000 };
    const buffer = new SocketBuffer(new PrioritySource(true), window);
    buffer.add(response(1, 200_000));
    buffer.add(response(2, 5_000, 1));
    expect(send(buffer, 40_000)).toEqual([
      [1, 30_000],
      [2, 5_000],
      [1, 5_000],
    ]);
  });

  it('is more once the window has outgrown the buffer', () => {
    const window = { windowBytes: 100_000, inFlightBytes: 0 };
    const buffer = new SocketBuffer(new PrioritySource(true), window);
    buffer.add(response(1, 1_000_000));
    // The buffer does not shrink.
    window.windowBytes = 10_000;
    buffer.add(response(2, 5_000, 1));
    expect(send(buffer, 560_000)).toEqual([
      [1, 550_000],
      [2, 5_000],
      [1, 5_000],
    ]);
  });

  it('alternates between responses that take turns, a frame each', () => {
    const buffer = new SocketBuffer(new PrioritySource(false), { windowBytes: 14_300, inFlightBytes: 0 });
    buffer.add(response(1, 40_000));
    buffer.add(response(2, 40_000));
    const sent = send(buffer, 100_000);
    // All of the first was written before the second was ready.
    expect(sent).toEqual([
      [1, 40_000],
      [2, 40_000],
    ]);
    const large = new SocketBuffer(new PrioritySource(false), { windowBytes: 14_300, inFlightBytes: 0 });
    large.add(response(1, 120_000));
    large.add(response(2, 40_000));
    // 80,000 bytes of the first; when the socket holds two thirds of them, 16,384 bytes of it and as much as has room of the second.
    const order = send(large, 200_000);
    expect(order.slice(0, 2)).toEqual([
      [1, 80_000 + 16_384],
      [2, expect.any(Number)],
    ]);
    expect(order.length).toBeLessThan(10);
  });

  it('includes responses of no bytes', () => {
    const buffer = new SocketBuffer(new PrioritySource(true), { windowBytes: 14_300, inFlightBytes: 0 });
    buffer.add(response(1, 0));
    expect(buffer.empty).toBe(false);
    expect(buffer.next?.id).toBe(1);
    expect(buffer.take(PACKET)).toBe(0);
    expect(buffer.empty).toBe(true);
  });
});
