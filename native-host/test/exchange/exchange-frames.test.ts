import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  creditOf,
  creditPayload,
  ExchangeFrameError,
  encodeFrame,
  FRAME,
  FRAME_HEADER_BYTES,
  FrameReader,
  jsonPayload,
  MAX_PAYLOAD_BYTES,
  writeFrameHeader,
} from '../../src/exchange/exchange-frames.ts';

type Seen = [kind: number, exchange: number, payload: string];

/** The frames that a reader parses from a stream in chunks; the pieces of a body are joined. */
function read(chunks: Buffer[]): Seen[] {
  const seen: Seen[] = [];
  const reader = new FrameReader({
    onFrame: (kind, exchange, payload) => seen.push([kind, exchange, payload.toString('latin1')]),
    onBody: (exchange, piece) => {
      const last = seen.at(-1);
      if (last?.[0] === FRAME.BODY && last[1] === exchange) last[2] += piece.toString('latin1');
      else seen.push([FRAME.BODY, exchange, piece.toString('latin1')]);
    },
  });
  for (const chunk of chunks) reader.push(chunk);
  return seen;
}

const frames = fc.array(
  fc.record({
    kind: fc.constantFrom(...Object.values(FRAME)),
    exchange: fc.nat(),
    payload: fc.uint8Array({ maxLength: 300 }),
  }),
);

describe('frames', () => {
  it('are parsed as written, in any segmentation of the stream', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (sent, cuts) => {
        const stream = Buffer.concat(
          sent.map(({ kind, exchange, payload }) => encodeFrame(kind, exchange, payload)),
        );
        const chunks: Buffer[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const size = cuts[turn % cuts.length]!;
          chunks.push(stream.subarray(at, at + size));
          at += size;
        }
        const whole: Seen[] = [];
        for (const { kind, exchange, payload } of sent) {
          const text = Buffer.from(payload).toString('latin1');
          const last = whole.at(-1);
          if (kind !== FRAME.BODY) whole.push([kind, exchange, text]);
          else if (text === '') continue;
          else if (last?.[0] === FRAME.BODY && last[1] === exchange) last[2] += text;
          else whole.push([kind, exchange, text]);
        }
        expect(read(chunks)).toEqual(whole);
      }),
    );
  });

  it('are given up for what cannot be one, and for nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: FRAME_HEADER_BYTES, maxLength: 200 }), (noise) => {
        const bytes = Buffer.from(noise);
        const isKnown = Object.values<number>(FRAME).includes(bytes[8]!);
        const possible = bytes.readUInt32LE(0) <= MAX_PAYLOAD_BYTES && isKnown;
        const run = (): unknown => read([bytes.subarray(0, FRAME_HEADER_BYTES)]);
        if (possible) expect(run).not.toThrow();
        else expect(run).toThrow(ExchangeFrameError);
      }),
      { numRuns: 1000 },
    );
  });

  it('are refused by their length before the payload arrives', () => {
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    writeFrameHeader(header, 0, FRAME.HEAD, 1, MAX_PAYLOAD_BYTES + 1);
    expect(() => read([header])).toThrow(`a frame of ${MAX_PAYLOAD_BYTES + 1} bytes`);
  });

  it('are not made of more than they hold', () => {
    expect(() => jsonPayload('x'.repeat(MAX_PAYLOAD_BYTES))).toThrow(ExchangeFrameError);
  });

  it('carry credit', () => {
    expect(creditOf(creditPayload(123_456))).toBe(123_456);
    expect(() => creditOf(Buffer.alloc(3))).toThrow(ExchangeFrameError);
  });
});
