/** Assertions about loads and predictions. */

import { spread } from '@hopwise/lab/statistics';
import {
  type Assignment,
  type Limits,
  originOf,
  PROTOCOLS,
  type Prediction,
  type Protocol,
} from '@hopwise/pageload-emulator';
import { expect as base } from '@playwright/test';
import { ReplayError } from './errors.ts';
import { describeDisturbance, type ReplayLoad, titleOf } from './load.ts';
import { judgeLoads, showLoadJudgement } from './load-budget.ts';
import { provableProtocol } from './options.ts';

/** Loads by the protocol that they were made under; several of one protocol count by their median. */
export type LoadsByProtocol = Partial<Record<Protocol, ReplayLoad | ReplayLoad[]>>;

const SHOWN = 5;

/**
 * Refuses what is no load, such as the promise of one: with `not`, an assertion about it would hold.
 *
 * @throws ReplayError
 */
function requireLoad(matcher: string, given: unknown): void {
  const { pltMs, requests } = (given ?? {}) as Partial<ReplayLoad>;
  if (typeof pltMs === 'number' && Array.isArray(requests)) return;
  throw new ReplayError(`${matcher}: expected a load, as await load() returns, got ${nameOf(given)}`);
}

function nameOf(given: unknown): string {
  if (given instanceof Promise) return 'a promise';
  if (Array.isArray(given)) return 'a list';
  return typeof given === 'object' && given !== null ? 'another object' : String(given);
}

/**
 * The loads of a comparison, by protocol.
 *
 * @throws ReplayError
 */
function comparedLoads(loads: LoadsByProtocol): [Protocol, ReplayLoad[]][] {
  const compared = Object.entries(loads).map(([protocol, some]) => [protocol, [some].flat()] as const);
  const isKnown = (name: string): name is Protocol => PROTOCOLS.some((protocol) => protocol === name);
  if (compared.length === 0)
    throw new ReplayError('toChooseFastest: expected loads under h1, h2 or h3, got none');
  return compared.map(([protocol, some]) => {
    if (!isKnown(protocol) || some.length === 0) {
      const what = isKnown(protocol) ? `none under ${protocol}` : `some under "${protocol}"`;
      throw new ReplayError(`toChooseFastest: expected loads under h1, h2 or h3, got ${what}`);
    }
    for (const load of some) requireLoad('toChooseFastest', load);
    return [protocol, some];
  });
}

/** A message, and a sentence about loads that other work disturbed: their times say little. */
function withDisturbance(loads: readonly ReplayLoad[], message: string): string {
  const disturbance = describeDisturbance(loads);
  return disturbance === '' ? message : `${message}\n${disturbance}`;
}

export const expect = base.extend({
  /**
   * Every request that was not answered from the cache was proved to be on the protocol, or on the one assigned to its
   * origin.
   */
  toUseProtocol(load: ReplayLoad, wanted: Protocol | Assignment) {
    requireLoad('toUseProtocol', load);
    provableProtocol('toUseProtocol', wanted);
    const sent = load.requests.filter(({ fromCache }) => !fromCache);
    const wrong = sent.filter(({ url, protocol }) => {
      const right = typeof wanted === 'string' ? wanted : wanted[originOf(url) ?? ''];
      return protocol === null || protocol !== right;
    });
    const name = typeof wanted === 'string' ? wanted : 'the protocol assigned to its origin';
    const shown = wrong.slice(0, SHOWN).map(({ url, protocol }) => `  ${protocol ?? 'unknown'}  ${url}`);
    if (wrong.length > SHOWN) shown.push(`  and ${wrong.length - SHOWN} more`);
    return {
      name: 'toUseProtocol',
      pass: sent.length > 0 && wrong.length === 0,
      message: () => {
        if (sent.length === 0) return `${titleOf(load)}: no request went over the network`;
        if (wrong.length === 0) return `${titleOf(load)}: all ${sent.length} requests were on ${name}`;
        const count = `${wrong.length} of ${sent.length} requests were not on ${name}:`;
        return [`${titleOf(load)}: ${count}`, ...shown].join('\n');
      },
    };
  },

  /** The load event ended within so many milliseconds of navigationStart. */
  toLoadWithin(load: ReplayLoad, milliseconds: number) {
    requireLoad('toLoadWithin', load);
    if (typeof milliseconds !== 'number' || Number.isNaN(milliseconds)) {
      throw new ReplayError(`toLoadWithin: expected milliseconds, got ${JSON.stringify(milliseconds)}`);
    }
    const pass = load.pltMs <= milliseconds;
    return {
      name: 'toLoadWithin',
      pass,
      expected: milliseconds,
      actual: load.pltMs,
      message: () =>
        withDisturbance(
          [load],
          `${titleOf(load)}: loaded in ${Math.round(load.pltMs)} ms, expected ${pass ? 'more than' : 'at most'} ${milliseconds} ms`,
        ),
    };
  },

  /**
   * Loads of one page are within a budget by their medians: load time and paints as measured, `originsOnBest` and
   * `gainLeft` as predicted from the load of median time.
   */
  toMeetBudget(loads: ReplayLoad | readonly ReplayLoad[], limits: Limits) {
    const some = [loads].flat();
    for (const load of some) requireLoad('toMeetBudget', load);
    const judgements = judgeLoads(some, limits);
    const breaches = judgements.filter(({ isBreach }) => isBreach);
    const pass = breaches.length === 0;
    return {
      name: 'toMeetBudget',
      pass,
      message: () => {
        const count = some.length === 1 ? 'one load' : `${some.length} loads`;
        const lines = (pass ? judgements : breaches).map((each) => `  ${showLoadJudgement(each)}`);
        const title = `${titleOf(some[0]!)}: ${count} ${pass ? 'within' : 'over'} the budget:`;
        return withDisturbance(some, [title, ...lines].join('\n'));
      },
    };
  },

  /**
   * The protocol that is predicted to be best was the fastest in `loads`, or within `margin` of it (a fraction of its
   * load time; 0.05 unless given).
   */
  toChooseFastest(
    prediction: Prediction,
    loads: LoadsByProtocol,
    { margin = 0.05 }: { margin?: number } = {},
  ) {
    if (!PROTOCOLS.includes(prediction?.best)) {
      throw new ReplayError(`toChooseFastest: expected a prediction, got ${nameOf(prediction)}`);
    }
    const compared = comparedLoads(loads);
    const measured = compared
      .map(([protocol, some]) => ({ protocol, pltMs: spread(some.map(({ pltMs }) => pltMs)).median }))
      .sort((a, b) => a.pltMs - b.pltMs);
    const [fastest] = measured;
    const chosen = measured.find(({ protocol }) => protocol === prediction.best);
    const pass = !!fastest && !!chosen && chosen.pltMs <= fastest.pltMs * (1 + margin);
    const figures = measured.map(({ protocol, pltMs }) => `${protocol} ${Math.round(pltMs)} ms`).join(', ');
    return {
      name: 'toChooseFastest',
      pass,
      message: () =>
        withDisturbance(
          compared.flatMap(([, some]) => some),
          `chosen was ${prediction.best}, measured were ${figures}`,
        ),
    };
  },
});
