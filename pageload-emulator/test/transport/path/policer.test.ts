import { expect, it } from 'vitest';
import { Policer } from '../../../src/transport/path/policer.ts';

it('polices by a token bucket', () => {
  // 8 Mbit/s: 25 ms deep, 25 packets of 1000 bytes, then one a millisecond.
  const policer = new Policer(8e6);
  expect(policer.admit(0, 30, 1_000)).toBe(25);
  expect(policer.admit(3, 30, 1_000)).toBe(3);
});
