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
  [70, 'HTTP/2 for its 2 requests saves 70 ms (7%) against HTTP/3: not enough to act on by itself.'],
  [-70, 'HTTP/3 for its 2 requests saves 70 ms (7%) against HTTP/2: not enough to act on by itself.'],
  [-9, 'The choice for its 2 requests moves the page by less than 1%.'],
])('an undecided choice that gains %i ms names the protocol that is ahead', (gainMs, words) => {
  expect(undecided(gainMs)).toBe(words);
});
