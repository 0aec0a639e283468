import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CreditPool } from '../../src/exchange/credit-pool.ts';
import { RequestUpload } from '../../src/exchange/request-upload.ts';

function upload(): RequestUpload {
  const created = new RequestUpload(new CreditPool().account(), true, () => {});
  created.grant();
  return created;
}

/** Up to `room` bytes as text; '' where there are none. */
function take(queue: RequestUpload, room: number): string {
  const target = Buffer.alloc(room);
  const bytes = queue.take(room, (piece, at) => target.set(piece, at));
  return target.toString('latin1', 0, bytes ?? 0);
}

it('gives what it was given, in any portions', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme-ascii' })),
      fc.integer({ min: 1, max: 20 }),
      (pieces, room) => {
        const queue = upload();
        for (const piece of pieces) queue.push(Buffer.from(piece));
        let all = '';
        for (let part = take(queue, room); part; part = take(queue, room)) all += part;
        expect(all).toBe(pieces.join(''));
      },
    ),
  );
});

it('starts again where little was taken', () => {
  const queue = upload();
  queue.push(Buffer.from('abc'));
  queue.push(Buffer.from('def'));
  expect(take(queue, 4)).toBe('abcd');
  expect(queue.rewind()).toBe(true);
  expect(take(queue, 3)).toBe('abc');
  expect(queue.rewind()).toBe(true);
  expect(take(queue, 10)).toBe('abcdef');
});

it('does not start again after 64 KiB, or after forget()', () => {
  const queue = upload();
  queue.push(Buffer.alloc(70_000));
  take(queue, 65_536);
  expect(queue.rewind()).toBe(true);
  take(queue, 65_537);
  expect(queue.rewind()).toBe(false);
  const forgotten = upload();
  forgotten.forget();
  expect(forgotten.rewind()).toBe(false);
});

it('knows what is missing from the end, and takes no more than was granted', () => {
  const grants: number[] = [];
  const queue = new RequestUpload(new CreditPool().account(), true, (bytes) => grants.push(bytes));
  queue.grant();
  expect(grants).toEqual([512 * 1024]);
  expect(queue.take(10, () => {})).toBeNull();
  expect(queue.push(Buffer.alloc(512 * 1024))).toBe(true);
  expect(queue.push(Buffer.alloc(1))).toBe(false);
  queue.end();
  expect(queue.take(1024 * 1024, () => {})).toBe(512 * 1024 + 1);
  expect(queue.take(10, () => {})).toBe(0);
});
