/** Origins that send over HTTP/2 what is small and unpacks to much, or what has no end: little memory is taken, and others go on. */
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import type { ExchangeError } from '../../src/exchange/exchange.ts';
import { LocalEngine } from '../support/local-engine.ts';
import { turns } from './support/hostile-browser.ts';
import { GOAWAY_FLOOD, HTTP2_BOMBS, HTTP2_FLOODS } from './support/http2-attacks.ts';
import { WELL } from './support/http2-cases.ts';
import { serveHostileTcp } from './support/serve-hostile-tcp.ts';
import { holdMemory, OTHERS, othersGoOn } from './support/serve-pinned.ts';

const { browser, served, origin } = serveHostileTcp('h2');

it.each(drawShare(turns(HTTP2_BOMBS), 2, ([name]) => name))('%s over %s', async (_name, version, one) => {
  await holdMemory(served, () => browser.hold(version, one, WELL));
});

it.each(drawShare(HTTP2_FLOODS, 2, ([name]) => name))('%s without end', async (_name, flood) => {
  await holdMemory(served, async () => {
    await browser.flood(flood, () => othersGoOn(served, OTHERS));
    await browser.holdNext('h2', WELL);
  });
});

it('a flood that libcurl does not get out of ends with its engine, and others go on', async () => {
  const engine = new LocalEngine({ stuckAfterMs: 1_500 });
  origin().show(GOAWAY_FLOOD);
  const get = { protocol: 'h2', method: 'GET', headers: [], body: null } as const;
  const flooded = engine.exchange({ ...get, url: `https://localhost:${origin().port}/` });
  // It may be given up before its head has been passed on.
  await flooded.head.catch(() => {});
  for (let answered = 0; answered < OTHERS; ) {
    const other = engine.exchange({ ...get, url: served.server.url('/bytes/1000') });
    await buffer(other.body).then(
      () => (answered += 1),
      (fault: ExchangeError) => expect(fault.code).toBe('engine-died'),
    );
  }
  flooded.cancel();
  await engine.close();
});
