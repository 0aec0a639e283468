import { endianness } from 'node:os';
import { PassThrough, Readable, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameError, frame, MessageWriter, readFrames } from '../../src/base/framing.ts';

async function read(chunks: Iterable<Uint8Array>, maxBytes?: number): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of readFrames(
    Readable.from([...chunks].map((chunk) => Buffer.from(chunk))),
    maxBytes,
  )) {
    values.push(value);
  }
  return values;
}

function header(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  if (endianness() === 'LE') bytes.writeUInt32LE(length);
  else bytes.writeUInt32BE(length);
  return bytes;
}

describe('readFrames', () => {
  it('gives back what was framed, however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        async (messages, cuts) => {
          const bytes = Buffer.concat(messages.map((message) => frame(message)));
          const places = [...new Set([0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length])];
          places.sort((a, b) => a - b);
          const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
          const expected = messages.map((message) => JSON.parse(JSON.stringify(message)));
          expect(await read(chunks)).toEqual(expected);
        },
      ),
    );
  });

  it('accepts a frame that arrives byte by byte', async () => {
    const bytes = frame({ type: 'hello', text: 'grüße 🚀' });
    expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual([
      { type: 'hello', text: 'grüße 🚀' },
    ]);
  });

  it('refuses a length above the limit before the body arrives', async () => {
    const input = new PassThrough();
    const frames = readFrames(input, 1000);
    input.write(header(1001));
    await expect(frames.next()).rejects.toThrow('its length says 1001 bytes, expected 1 to 1000');
  });

  it('refuses the length of a terminal that types', async () => {
    await expect(read([Buffer.from('GET / HTTP/1.1\r\n')])).rejects.toThrow(FrameError);
  });

  it('refuses a length of zero', async () => {
    await expect(read([header(0)])).rejects.toThrow('its length says 0 bytes');
  });

  it('refuses bytes that are not UTF-8', async () => {
    await expect(read([header(3), Uint8Array.of(0x22, 0xff, 0x22)])).rejects.toThrow('is not JSON in UTF-8');
  });

  it('says when the input ends inside a frame', async () => {
    await expect(read([header(10), Buffer.from('{"a"')])).rejects.toThrow('4 of 10 bytes had arrived');
    await expect(read([header(10).subarray(0, 2)])).rejects.toThrow('2 of 4 bytes had arrived');
    await expect(read([header(10)])).rejects.toThrow('0 of 10 bytes had arrived');
  });

  it('ends in one of two ways on any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 6 }), async (chunks) => {
        await read(chunks, 4096).catch((fault: Error) => expect(fault).toBeInstanceOf(FrameError));
      }),
    );
  });

  it('buffers only bytes that have arrived, whatever the length says', async () => {
    const input = new PassThrough();
    const frames = readFrames(input, 2 ** 31);
    const next = frames.next();
    const before = process.memoryUsage().arrayBuffers;
    input.write(header(2 ** 31 - 1));
    input.write(Buffer.alloc(1000, 0x20));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
    input.end();
    await expect(next).rejects.toThrow('1000 of 2147483647 bytes had arrived');
  });
});

describe('FrameWriter', () => {
  it('refuses a message that browsers would not accept', () => {
    expect(() => frame({ text: 'x'.repeat(1024 * 1024) })).toThrow('exceeds the 1048576');
  });

  it('waits for a slow reader and keeps the order', async () => {
    const written: Buffer[] = [];
    let release: (() => void) | null = null;
    const slow = new Writable({
      highWaterMark: 64,
      write(chunk: Buffer, _encoding, done) {
        written.push(chunk);
        release = done;
      },
    });
    const writer = new MessageWriter(slow);
    const all = [1, 2, 3].map((number) => writer.write({ number, text: 'x'.repeat(100) }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(written).toHaveLength(1);
    expect(writer.waiting).toBe(3);
    while (writer.waiting > 0) {
      (release as (() => void) | null)?.();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await Promise.all(all);
    const values = await read([Buffer.concat(written)]);
    expect(values.map((value) => (value as { number: number }).number)).toEqual([1, 2, 3]);
  });

  it('stops waiting when it is closed', async () => {
    const stuck = new Writable({ highWaterMark: 1, write() {} });
    const writer = new MessageWriter(stuck);
    const first = writer.write({ number: 1 });
    const second = writer.write({ number: 2 });
    writer.close();
    await expect(first).rejects.toThrow();
    await expect(second).rejects.toThrow('the port is closed');
  });
});
