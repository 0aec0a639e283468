/**
 * Origins that answer with anything over HTTP/1.1: the browser gets the right response or a broken one, never one that is wrongly complete,
 * and what follows on the same connection is right.
 */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { residentBytes } from '../support/memory.ts';
import { MIB } from './support/cases.ts';
import { VERSIONS } from './support/hostile-browser.ts';
import { HTTP1_CASES } from './support/http1-cases.ts';
import { MUTATION_RUNS, mutated, mutations } from './support/mutations.ts';
import { serveHostileTcp } from './support/serve-hostile-tcp.ts';

const WELL = HTTP1_CASES[0]!;
const { served, browser } = serveHostileTcp('h1');
let before: number;

beforeAll(async () => {
  before = await resident();
});

/** Bytes of this process, the proxy's, and of the engine's. */
async function resident(): Promise<number> {
  return residentBytes(process.pid) + residentBytes((await served.pinned.engine.pid())!);
}

it.each(HTTP1_CASES.map((one) => [one.name, one] as const))('an answer %s', async (_name, one) => {
  for (const version of VERSIONS) await browser.hold(version, one, WELL);
});

it('an answer with changed bytes does not touch the next one', async () => {
  const short = HTTP1_CASES.filter(
    ({ pieces, endless }) => !endless && Buffer.concat(pieces).length < 10_000,
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...short),
      fc.constantFrom(...VERSIONS),
      mutations,
      async ({ pieces }, version, changes) => {
        await browser.ask(version, { pieces: [mutated(Buffer.concat(pieces), changes)], after: 'end' });
        await browser.holdNext(version, WELL);
      },
    ),
    MUTATION_RUNS,
  );
});

it('leaves nothing in memory', async () => {
  expect((await resident()) - before).toBeLessThan(96 * MIB);
});
