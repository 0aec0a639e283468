import { expect, test } from 'vitest';
import type { FrameTimings } from '../../src/recorder/page-timings.ts';
import { findSystemOrigin } from '../../src/recorder/system-origin.ts';

test.each([
  ['has slept, or was set, since the browser’s clock began', 1e12 + 28_800_000, 1e12 + 28_800_000],
  ['was set back', 1e12 - 3_600_000, 1e12 - 3_600_000],
  ['goes as the browser’s does', 1e12 + 20, 1e12],
  ['is not in the report', undefined, 1e12],
])('a document began by the system’s clock where that %s', (_words, systemOrigin, expected) => {
  expect(findSystemOrigin({ timeOrigin: 1e12, systemOrigin } as FrameTimings)).toBe(expected);
});
