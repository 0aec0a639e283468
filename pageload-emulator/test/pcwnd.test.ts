import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  lossByWindow,
  parsePcwnd,
  parsePcwndCounts,
  smoothedLossByWindow,
  type WindowCount,
} from '../src/econ/pcwnd.ts';
import { InputError } from '../src/recording/input-error.ts';

describe('parsePcwnd', () => {
  test('reads windows as whole and as decimal numbers', () => {
    expect(parsePcwnd('cwnd,p\n10.0,0.01\n12,1.5e-05\n')).toEqual([
      { cwnd: 10, p: 0.01 },
      { cwnd: 12, p: 1.5e-5 },
    ]);
  });

  test('takes line ends of Windows, a byte order mark and a missing last line end', () => {
    expect(parsePcwnd('\uFEFFcwnd,p\r\n10,0.5\r\n11,0')).toEqual([
      { cwnd: 10, p: 0.5 },
      { cwnd: 11, p: 0 },
    ]);
  });

  test.each([
    ['', 'line 1: expected the header cwnd,p, got nothing'],
    ['cwnd;p\n', 'line 1: expected the header cwnd,p, got "cwnd;p"'],
    ['cwnd,p\n', 'line 2: expected at least one window, got nothing'],
    ['cwnd,p\n10\n', 'line 2: expected two columns, cwnd and p, got "10"'],
    ['cwnd,p\n10,0.1,3\n', 'line 2: expected two columns, cwnd and p, got "10,0.1,3"'],
    ['cwnd,p\n10,0.1\n\n12,0.1\n', 'line 3: expected two columns, cwnd and p, got ""'],
    ['cwnd,p\n10,0.1\nten,0.1\n', 'line 3: expected a window of at least 1 segment, got "ten"'],
    ['cwnd,p\n0,0.1\n', 'line 2: expected a window of at least 1 segment, got "0"'],
    ['cwnd,p\n0x10,0.1\n', 'line 2: expected a window of at least 1 segment, got "0x10"'],
    ['cwnd,p\n10,1.1\n', 'line 2: expected a probability from 0 to 1, got "1.1"'],
    ['cwnd,p\n10,\n', 'line 2: expected a probability from 0 to 1, got ""'],
    ['cwnd,p\n10,nan\n', 'line 2: expected a probability from 0 to 1, got "nan"'],
    ['cwnd,p\n10,0.1\n10,0.2\n', 'line 3: expected a window above 10, that of the line before, got "10"'],
  ])('refuses %j in one line', (text, message) => {
    expect(() => parsePcwnd(text)).toThrow(new InputError(message));
  });

  test('says where, or reads, whatever the text is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(parsePcwnd(`cwnd,p\n${text}`).length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
          expect((error as Error).message).toMatch(/^line \d+: expected /);
        }
      }),
    );
  });
});

describe('parsePcwndCounts', () => {
  const file = (windows: unknown) =>
    JSON.stringify({ format: 'hopwise-pcwnd', version: 1, windows, seed: 1 });

  test('reads the counts', () => {
    const windows = [{ cwnd: 10, rounds: 5, packets: 49, lossEvents: 1 }];
    expect(parsePcwndCounts(file(windows))).toEqual([{ cwnd: 10, rounds: 5, lossEvents: 1 }]);
  });

  test.each([
    ['cwnd,p\n', 'top level: expected JSON'],
    ['{"version": 1, "windows": []}', 'format: expected hopwise-pcwnd, got nothing'],
    [file(3), 'windows: expected an array of windows, got 3'],
    [file([{ cwnd: 0, rounds: 1, lossEvents: 0 }]), 'windows[0].cwnd: expected at least 1 segment, got 0'],
    [
      file([{ cwnd: 9, rounds: 1.5, lossEvents: 0 }]),
      'windows[0].rounds: expected a number of rounds, got 1.5',
    ],
    [
      file([{ cwnd: 9, rounds: 1, lossEvents: 2 }]),
      'windows[0]: expected no more loss events than rounds, got an object',
    ],
  ])('refuses %s in one line', (text, message) => {
    expect(() => parsePcwndCounts(text)).toThrow(new InputError(message));
  });
});

describe('lossByWindow', () => {
  const loss = lossByWindow([
    { cwnd: 10, p: 0.001 },
    { cwnd: 20, p: 0.004 },
    { cwnd: 50, p: 0.02 },
  ]);

  test('carries p on to the next window', () => {
    expect([10, 19.5, 20, 49, 50].map((cwnd) => loss.perPacket(cwnd))).toEqual([
      0.001, 0.001, 0.004, 0.004, 0.02,
    ]);
  });

  test('is 0 below the sampled windows and the last p above them', () => {
    expect(loss.perPacket(9.9)).toBe(0);
    expect(loss.perPacket(1e6)).toBe(0.02);
  });

  test('takes the whole window for a round, and no round for more than certain to lose', () => {
    expect(loss.perRound(20)).toBeCloseTo(0.08, 12);
    expect(loss.perRound(1e6)).toBe(1);
  });

  test('knows its range', () => {
    expect([loss.smallest, loss.largest]).toEqual([10, 50]);
    expect(() => lossByWindow([])).toThrow(RangeError);
  });
});

describe('smoothedLossByWindow', () => {
  test('finds the rate of independent losses, between the sampled windows too', () => {
    const rate = 0.002;
    const counts = Array.from({ length: 100 }, (_, i) => {
      const cwnd = 20 + 2 * i;
      return { cwnd, rounds: 10_000, lossEvents: Math.round(10_000 * cwnd * rate) };
    });
    const loss = smoothedLossByWindow(counts);
    for (const cwnd of [1, 20, 21, 55.5, 150, 218, 10_000]) {
      expect(loss.perPacket(cwnd)).toBeGreaterThan(0.99 * rate);
      expect(loss.perPacket(cwnd)).toBeLessThan(1.01 * rate);
    }
  });

  test('follows a queue that overflows', () => {
    const counts = Array.from({ length: 100 }, (_, i) => ({
      cwnd: 50 + i,
      rounds: 1000,
      lossEvents: i < 80 ? 0 : 500,
    }));
    const loss = smoothedLossByWindow(counts);
    expect(loss.perRound(90)).toBeLessThan(0.001);
    expect(loss.perRound(149)).toBeGreaterThan(0.4);
  });

  test('gives a window without a loss a probability below that of all and above 0', () => {
    const counts = [
      { cwnd: 10, rounds: 1000, lossEvents: 0 },
      { cwnd: 100, rounds: 100, lossEvents: 50 },
    ];
    const loss = smoothedLossByWindow(counts);
    expect(loss.perPacket(10)).toBeGreaterThan(0);
    expect(loss.perPacket(10)).toBeLessThan(1e-4);
    // Far from both, what all windows showed is all that is known: 50.5 of 20,000.5 packets.
    expect(loss.perPacket(32)).toBeCloseTo(50.5 / 20_000.5, 6);
  });

  test('does not depend on the order, and stays a probability', () => {
    const count = fc
      .tuple(fc.integer({ min: 1, max: 5000 }), fc.nat(1000), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(
        ([cwnd, rounds, share]): WindowCount => ({
          cwnd,
          rounds,
          lossEvents: Math.floor(rounds * share),
        }),
      );
    const some = fc
      .uniqueArray(count, { selector: ({ cwnd }) => cwnd, minLength: 1, maxLength: 30 })
      .filter((counts) => counts.some(({ rounds }) => rounds > 0));
    fc.assert(
      fc.property(some, fc.double({ min: 1, max: 1e5, noNaN: true }), (counts, cwnd) => {
        const loss = smoothedLossByWindow(counts);
        const rate = loss.perPacket(cwnd);
        expect(rate).toBeGreaterThan(0);
        expect(rate).toBeLessThanOrEqual(1);
        expect(loss.perRound(cwnd)).toBeLessThanOrEqual(1);
        expect(smoothedLossByWindow(counts.toReversed()).perPacket(cwnd)).toBe(rate);
      }),
    );
  });

  test('needs a round', () => {
    expect(() => smoothedLossByWindow([{ cwnd: 10, rounds: 0, lossEvents: 0 }])).toThrow(RangeError);
  });
});
