import { predict } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { isH3Unoffered } from '../../src/ui/comparison.ts';
import { largePage } from '../support/large-page.ts';

const { requests, ...page } = largePage(20);
const over = (offersH3: boolean | null) => ({
  ...page,
  requests: requests.map((request) => ({ ...request, protocol: 'h2' as const, offersH3 })),
});

test.each([
  ['no load shows an offer', null, null, true],
  ['the recording shows an offer', true, true, false],
  ['another load showed an offer to the prediction', null, true, false],
  ['the recording shows that there is none', false, false, true],
])('HTTP/3 is hypothetical unless it is offered: %s', (_words, recorded, known, isUnoffered) => {
  expect(isH3Unoffered(over(recorded), predict(over(known)))).toBe(isUnoffered);
});
