import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UploadQueue } from '../src/exchange/upload-queue.ts';

function take(queue: UploadQueue, room: number): string {
  const target = Buffer.alloc(room);
  const bytes = queue.take(room, (piece, at) => target.set(piece, at));
  return target.toString('latin1', 0, bytes);
}

it('gives what it was given, in any portions', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme-ascii' })),
      fc.integer({ min: 1, max: 20 }),
      (pieces, room) => {
        const queue = new UploadQueue();
        for (const piece of pieces) queue.push(Buffer.from(piece));
        let all = '';
        for (let part = take(queue, room); part; part = take(queue, room)) all += part;
        expect(all).toBe(pieces.join(''));
      },
    ),
  );
});

it('starts again where little was taken', () => {
  const queue = new UploadQueue();
  queue.push(Buffer.from('abc'));
  queue.push(Buffer.from('def'));
  expect(take(queue, 4)).toBe('abcd');
  expect(queue.rewind()).toBe(4);
  expect(take(queue, 3)).toBe('abc');
  expect(queue.rewind()).toBe(3);
  expect(take(queue, 10)).toBe('abcdef');
});

it('does not start again after 64 KiB, or after forget()', () => {
  const queue = new UploadQueue();
  queue.push(Buffer.alloc(70_000));
  take(queue, 65_536);
  expect(queue.rewind()).toBe(65_536);
  take(queue, 65_537);
  expect(queue.rewind()).toBeNull();
  const forgotten = new UploadQueue();
  forgotten.forget();
  expect(forgotten.rewind()).toBeNull();
});
