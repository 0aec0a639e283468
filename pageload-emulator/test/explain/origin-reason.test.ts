import { expect, test } from 'vitest';
import type { OriginChoice } from '../../src/choose/origin-choice.ts';
import { originReason } from '../../src/explain/origin-reason.ts';
import { english } from '../../src/explain/sentences/english.ts';

/** An undecided origin's sentence needs neither the page nor its loads. */
const CONTEXT = {} as Parameters<typeof originReason>[1];
const CHOICE = {} as Parameters<typeof originReason>[2];

const undecided = (gainMs: number) =>
  originReason(
    { protocol: 'h2', rival: 'h3', gainMs, pageMs: 1000, requests: 2, decided: false } as OriginChoice,
    CONTEXT,
    CHOICE,
    english,
  );

test.each([
  [40, 'HTTP/2 for its 2 requests saves 40 ms (4%) against HTTP/3: not enough to act on by itself.'],
  [-40, 'HTTP/3 for its 2 requests saves 40 ms (4%) against HTTP/2: not enough to act on by itself.'],
  // Of 1250 ms; 250 of 1000 where the other one is ahead.
  [250, 'HTTP/2 for its 2 requests might save 250 ms (20%) against HTTP/3, which is not sure.'],
  [-250, 'HTTP/3 for its 2 requests might save 250 ms (25%) against HTTP/2, which is not sure.'],
  // From a second on as the times beside it: 2590 of 3590 ms.
  [2590, 'HTTP/2 for its 2 requests might save 2.6 s (72%) against HTTP/3, which is not sure.'],
  [990, 'HTTP/2 for its 2 requests might save 990 ms (50%) against HTTP/3, which is not sure.'],
  [-9, 'The choice for its 2 requests moves the page by less than 1%.'],
])('an undecided choice that gains %i ms names the protocol that is ahead', (gainMs, words) => {
  expect(undecided(gainMs)).toBe(words);
});
