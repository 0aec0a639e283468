/** What assertions about loads refuse: with `not`, they would hold for what they cannot judge. */
import type { Prediction } from '@hopwise/pageload-emulator';
import { expect as base, it } from 'vitest';
import type { ReplayLoad } from '../../src/playwright/load.ts';
import { expect } from '../../src/playwright/matchers.ts';
import { loadOf } from '../support/replay-loads.ts';

const LOAD = loadOf({ requests: [{ url: 'https://app.test/', protocol: 'h2', fromCache: false }] });
const PREDICTION = { best: 'h2' } as unknown as Prediction;
/** As a test without types gives it. */
const asLoad = (given: unknown) => given as ReplayLoad;

it('judges the loads that it is given', () => {
  expect(LOAD).toUseProtocol('h2');
  expect(LOAD).toUseProtocol({ 'https://app.test': 'h2' });
  expect(LOAD).not.toUseProtocol('h3');
  expect(LOAD).toLoadWithin(2400);
  expect(LOAD).not.toLoadWithin(2399);
  expect(PREDICTION).toChooseFastest({ h2: LOAD, h3: [loadOf({ pltMs: 9000 })] });
  expect(PREDICTION).not.toChooseFastest({ h2: LOAD, h1: loadOf({ pltMs: 9 }) });
});

it('refuses a load that is still to be made, and what is none', () => {
  const later = asLoad(Promise.resolve(LOAD));
  base(() => expect(later).not.toUseProtocol('h3')).toThrow(
    'toUseProtocol: expected a load, as await load() returns, got a promise',
  );
  base(() => expect(later).not.toLoadWithin(1)).toThrow('toLoadWithin: expected a load');
  base(() => expect(later).toMeetBudget({ loadTimeMs: 1 })).toThrow('toMeetBudget: expected a load');
  base(() => expect(asLoad([LOAD])).toLoadWithin(9000)).toThrow('got a list');
  base(() => expect(asLoad(PREDICTION)).toLoadWithin(9000)).toThrow('got another object');
  base(() => expect(asLoad(undefined)).toLoadWithin(9000)).toThrow('got undefined');
});

it.each(['http/2', 'natural', 'h4', undefined, { 'app.test': 'h2' }])('refuses the protocol %j', (wanted) => {
  base(() => expect(LOAD).not.toUseProtocol(wanted as never)).toThrow(
    'toUseProtocol: expected h1, h2, h3, or an object with h1, h2 or h3 for each origin (https://host), got',
  );
});

it.each(['10', Number.NaN, undefined])('refuses the time %j', (milliseconds) => {
  base(() => expect(LOAD).not.toLoadWithin(milliseconds as never)).toThrow(
    /^toLoadWithin: expected milliseconds, got /,
  );
});

it('refuses comparisons without loads, and those with what is no prediction', () => {
  const compare = (loads: object) => () => expect(PREDICTION).not.toChooseFastest(loads);
  base(compare({})).toThrow('toChooseFastest: expected loads under h1, h2 or h3, got none');
  base(compare({ h1: [] })).toThrow('expected loads under h1, h2 or h3, got none under h1');
  base(compare({ h9: LOAD })).toThrow('expected loads under h1, h2 or h3, got some under "h9"');
  base(compare({ h1: undefined })).toThrow('toChooseFastest: expected a load, as await load() returns');
  base(() => expect(LOAD as unknown as Prediction).toChooseFastest({ h2: LOAD })).toThrow(
    'toChooseFastest: expected a prediction, got another object',
  );
});
