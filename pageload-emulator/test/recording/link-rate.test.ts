import { parseRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { ArrivalCurve } from '../../src/recording/arrival-curve.ts';
import { linkRate } from '../../src/recording/link-rate.ts';
import { chromiumEntry, harOf } from '../support/hars.ts';

/** Responses of `bytes` that arrive evenly from `fromMs` for `forMs`. */
function arriving(...responses: { fromMs: number; forMs: number; bytes: number }[]): ArrivalCurve {
  const entries = responses.map(({ fromMs, forMs, bytes }, index) =>
    chromiumEntry(
      `https://a.test/${index}`,
      fromMs - 10,
      { wait: 10, receive: forMs },
      {
        _transferSize: bytes,
        response: {
          status: 200,
          httpVersion: 'h2',
          headers: [],
          content: { size: bytes, mimeType: 'image/png' },
          bodySize: bytes,
          headersSize: 0,
          _transferSize: bytes,
        },
      },
    ),
  );
  return new ArrivalCurve(parseRecording(harOf(entries)).requests);
}

describe('link rate', () => {
  it('of a link that was full for long is not the rate of its best moment', () => {
    // 200 kB a second for 4 s, but 80 kB in 200 ms when a repaired loss released them at once.
    const arrivals = arriving(
      { fromMs: 0, forMs: 1900, bytes: 380_000 },
      { fromMs: 2000, forMs: 200, bytes: 80_000 },
      { fromMs: 2300, forMs: 1700, bytes: 340_000 },
    );
    const rate = linkRate(arrivals, 400, true)!;
    expect(rate.filled).toBe(true);
    // 1.6 Mbit/s and 5% of headers on the wire.
    expect(rate.bps / 1e6).toBeGreaterThan(1.55);
    expect(rate.bps / 1e6).toBeLessThan(1.95);
  });

  it('of a slow link is what it holds for longer than the window', () => {
    const rate = linkRate(arriving({ fromMs: 0, forMs: 4_000, bytes: 200_000 }), 400, false)!;
    expect(rate.filled).toBe(true);
    expect(rate.bps / 1e6).toBeCloseTo(0.4 * 1.05, 2);
  });

  it('is not that of a page which waits between small responses', () => {
    const small = Array.from({ length: 20 }, (_, index) => ({
      fromMs: 1_000 * index,
      forMs: 100,
      bytes: 9_000,
    }));
    expect(linkRate(arriving(...small), 400, false)).toBeNull();
  });

  it('is not that of a page which asks for one small response after the other', () => {
    const small = Array.from({ length: 40 }, (_, index) => ({ fromMs: 140 * index, forMs: 5, bytes: 9_000 }));
    expect(linkRate(arriving(...small), 200, false)).toBeNull();
  });

  it('of a link that was never full for long is the rate of a spurt', () => {
    const arrivals = arriving(
      { fromMs: 0, forMs: 100, bytes: 100_000 },
      { fromMs: 900, forMs: 100, bytes: 100_000 },
    );
    const rate = linkRate(arrivals, 400, false)!;
    expect(rate.filled).toBe(false);
    expect(rate.bps / 1e6).toBeCloseTo(8 * 1.05, 0);
  });
});
