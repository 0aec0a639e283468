/** What exchanges show of the path, for those that are asked for it. */
import { PROTOCOLS } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/exchange/exchange.ts';
import { serveEngine } from '../support/engine.ts';
import { asking } from './support/exchanges.ts';

const BYTES = 300_000;
const DELAY_MS = 60;
/** A busy machine notes the end of the request some time after the server has received it. */
const NOTED_LATE_MS = 20;

const served = serveEngine();
const ask = asking(served);

async function ended(exchange: Exchange): Promise<Exchange['figures']> {
  exchange.body.resume();
  await exchange.trailers;
  return exchange.figures;
}

describe.each(PROTOCOLS)('%s', (protocol) => {
  const measure = () => ended(ask(protocol, `/bytes/${BYTES}?delay=${DELAY_MS}`, { isMeasured: true }));

  it('times of the response, its bytes, and whether its connection was open before', async () => {
    const first = (await measure())!;
    const second = (await measure())!;
    for (const { ttfbMs, completionMs, bodyBytes } of [first, second]) {
      expect(ttfbMs).toBeGreaterThanOrEqual(DELAY_MS - NOTED_LATE_MS);
      expect(completionMs).toBeGreaterThanOrEqual(ttfbMs);
      expect(bodyBytes).toBe(BYTES);
    }
    expect([first.isReused, second.isReused]).toEqual([false, true]);
  });

  it('of a TCP connection its round trip and the segments since its last exchange', async () => {
    await measure();
    const { tcp } = (await measure())!;
    if (protocol === 'h3') expect(tcp).toBeNull();
    else {
      expect(tcp!.rttMs).toBeGreaterThan(0);
      // Segments of the loopback interface have up to 64 kB.
      expect(tcp!.segments).toBeGreaterThanOrEqual(Math.ceil(BYTES / 65_536));
      expect(tcp!.segments).toBeLessThan(BYTES / 500);
      expect(tcp!.outOfOrder).toBeLessThanOrEqual(tcp!.segments);
    }
  });

  it('nothing of an exchange that is not asked for it', async () => {
    expect(await ended(ask(protocol, '/bytes/10'))).toBeNull();
  });
});
