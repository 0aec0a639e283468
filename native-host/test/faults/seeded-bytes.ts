import { createCipheriv } from 'node:crypto';

/** What the test server has under `/seeded/length?seed=seed`. */
export function seededBytes(length: number, seed: number): Buffer {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(seed, 12);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
}
