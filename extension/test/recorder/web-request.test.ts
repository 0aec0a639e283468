import { expect, test } from 'vitest';
import { toFrameId } from '../../src/recorder/web-request.ts';

test.each([
  { of: 'the top frame', frameId: 0, parentFrameId: -1, expected: 0 },
  { of: 'the top frame before the browser process knows it', frameId: 7, parentFrameId: -1, expected: 0 },
  { of: 'an iframe', frameId: 7, parentFrameId: 0, expected: 7 },
  { of: 'a worker', frameId: -1, parentFrameId: -1, expected: -1 },
])('a request of $of has frame id $expected', ({ frameId, parentFrameId, expected }) => {
  expect(toFrameId({ frameId, parentFrameId })).toBe(expected);
});
