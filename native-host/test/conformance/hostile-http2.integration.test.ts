/**
 * Origins that answer with anything over HTTP/2: the browser gets the right response or a broken one, never one that is wrongly complete,
 * and what follows is right.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LocalEngine } from '../support/local-engine.ts';
import { turns, VERSIONS } from './support/hostile-browser.ts';
import { HTTP2_CASES, ITS_LENGTH, WELL } from './support/http2-cases.ts';
import { data, frame, H2_FRAME, head } from './support/http2-frames.ts';
import { MUTATION_RUNS, mutated, mutations } from './support/mutations.ts';
import { bodySaid2 } from './support/said-body.ts';
import { serveHostileTcp } from './support/serve-hostile-tcp.ts';

const { browser, served, origin } = serveHostileTcp('h2');

it.each(turns(HTTP2_CASES))('an answer %s over %s', async (_name, version, one) => {
  await browser.hold(version, one, WELL);
});

it.each(VERSIONS)(
  'a connection over %s that ends without an answer is not held against HTTP/2',
  async (version) => {
    await browser.holdNext(version, WELL);
    const { lifted } = served.pinned;
    lifted.length = 0;
    expect(await browser.ask(version, { pieces: [], after: 'end' })).toBeNull();
    await browser.holdNext(version, WELL);
    expect(lifted).toEqual([]);
  },
);

it('all that is under way ends with a connection that cannot be read any more', async () => {
  const engine = new LocalEngine();
  const ask = () =>
    engine.exchange({
      protocol: 'h2',
      method: 'GET',
      url: `https://localhost:${origin().port}/`,
      headers: [],
      body: null,
    });
  origin().show({ pieces: [head(), data('begun', 0)], after: 'keep' });
  const begun = ask();
  await begun.head;
  const settings = frame(H2_FRAME.SETTINGS, 0, 0, Buffer.alloc(0));
  origin().show({ pieces: Array.from({ length: 3_000 }, () => settings), after: 'keep' });
  const next = ask();
  const ends = await Promise.all(
    [next, begun].map(({ trailers }) =>
      trailers.then(
        () => 'complete',
        ({ code }: { code: string }) => code,
      ),
    ),
  );
  // libcurl describes the violation to the transfer that was reading; the other may only see its connection end.
  for (const end of ends) expect(['protocol', 'reset']).toContain(end);
  await engine.close();
});

it('an answer with changed bytes is what its frames say or broken', async () => {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...VERSIONS), mutations, async (version, changes) => {
      const bytes = mutated(Buffer.concat(WELL.pieces), changes);
      const got = await browser.ask(version, { pieces: [bytes], after: 'end' });
      if (got) {
        expect(got.body.toString('latin1')).toBe(bodySaid2(bytes, ITS_LENGTH));
        whole += 1;
      }
      await browser.holdNext(version, WELL);
    }),
    MUTATION_RUNS,
  );
  // Changes of the body itself, which frames do not reveal.
  expect(whole).toBeGreaterThan(0);
});
