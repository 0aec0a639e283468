/**
 * Origins that answer with anything over HTTP/3: the browser gets the right response or a broken one, never one that is wrongly complete,
 * and what follows is right.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { HostileBrowser, turns, VERSIONS } from './support/hostile-browser.ts';
import { HostileHttp3Origin, type Http3Answer } from './support/hostile-http3-origin.ts';
import { HTTP3_CASES, HTTP3_FLOODS, HTTP3_LARGE, LENGTH, SOUND, WELL } from './support/http3-cases.ts';
import { MUTATION_RUNS, mutated, mutations } from './support/mutations.ts';
import { bodySaid3 } from './support/said-body.ts';
import { holdMemory, OTHERS, othersGoOn, servePinned } from './support/serve-pinned.ts';

const served = servePinned(['-raw-http3']);
let origin: HostileHttp3Origin;
const browser = new HostileBrowser<Http3Answer>(served, 'h3', () => origin);

beforeAll(() => {
  origin = new HostileHttp3Origin(served.others[0]!);
});

afterAll(() => browser.close());

it.each(turns(HTTP3_CASES))('an answer %s over %s', async (_name, version, one) => {
  await browser.hold(version, one, WELL);
});

it('an answer with changed bytes is what its frames say or broken', async () => {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...VERSIONS), mutations, async (version, changes) => {
      const bytes = mutated(SOUND, changes);
      const got = await browser.ask(version, { answer: [{ bytes, after: 'fin' }] });
      if (got) {
        expect(got.body.toString('latin1')).toBe(bodySaid3(bytes, LENGTH));
        whole += 1;
      }
      await browser.holdNext(version, WELL);
    }),
    MUTATION_RUNS,
  );
  // Changes of the body itself, which frames do not reveal.
  expect(whole).toBeGreaterThan(0);
});

describe('little memory is taken by', () => {
  it.each(drawShare(turns(HTTP3_LARGE), 1, ([name]) => name))('%s over %s', async (_name, version, one) => {
    await holdMemory(served, () => browser.hold(version, one, WELL));
  });

  it.each(drawShare(HTTP3_FLOODS, 2, ([name]) => name))(
    '%s without end, and others go on',
    async (_name, flood) => {
      await holdMemory(served, async () => {
        await browser.flood(flood, () => othersGoOn(served, OTHERS));
        await browser.holdNext('h2', WELL);
      });
    },
  );
});
