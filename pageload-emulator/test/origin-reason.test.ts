import { expect, test } from 'vitest';
import { type OriginCase, originReason } from '../src/choose/reasons.ts';

/** Nothing of the page is looked into where an origin's choice is open. */
const GROUND = {} as Parameters<typeof originReason>[1];

const undecided = (gainMs: number) =>
  originReason(
    { protocol: 'h2', rival: 'h3', gainMs, pageMs: 1000, requests: 2, decided: false } as OriginCase,
    GROUND,
  );

test.each([
  [70, 'HTTP/2 for its 2 requests gains 70 ms (7%) over HTTP/3, too little to be sure.'],
  [-70, 'HTTP/3 for its 2 requests gains 70 ms (7%) over HTTP/2, too little to be sure.'],
  [-9, 'The choice for its 2 requests moves the page by less than 1%.'],
])('an open choice that gains %i ms names what is ahead', (gainMs, words) => {
  expect(undecided(gainMs)).toBe(words);
});
