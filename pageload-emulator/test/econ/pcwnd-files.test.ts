import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePcwnd, parsePcwndCounts } from '../../src/econ/pcwnd-files.ts';
import { InputError } from '../../src/util/input-error.ts';

describe('parsePcwnd', () => {
  test('reads windows as whole and as decimal numbers', () => {
    expect(parsePcwnd('cwnd,p\n10.0,0.01\n12,1.5e-05\n')).toEqual([
      { cwnd: 10, p: 0.01 },
      { cwnd: 12, p: 1.5e-5 },
    ]);
  });

  test('accepts CRLF, a byte order mark and a missing last line end', () => {
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

  test.each([
    ['digits', '0'],
    ['blanks', ' '],
  ])('refuses a cell of %s without end in linear time', (_name, part) => {
    const began = process.cpuUsage();
    expect(() => parsePcwnd(`cwnd,p\n${part.repeat(200_000)}x,0.1\n`)).toThrow(InputError);
    const { user, system } = process.cpuUsage(began);
    // Quadratic time would be ten minutes.
    expect((user + system) / 1e6).toBeLessThan(20);
  });

  test('reads any text or names the line that it cannot read', () => {
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
    expect(parsePcwndCounts(file(windows))).toEqual(windows);
  });

  test.each([
    ['cwnd,p\n', 'top level: expected JSON'],
    ['{"version": 1, "windows": []}', 'format: expected hopwise-pcwnd, got nothing'],
    [file(3), 'windows: expected an array of windows, got 3'],
    [
      file([{ cwnd: 0, rounds: 1, packets: 1, lossEvents: 0 }]),
      'windows[0].cwnd: expected at least 1 segment, got 0',
    ],
    [
      file([{ cwnd: 9, rounds: 1.5, packets: 9, lossEvents: 0 }]),
      'windows[0].rounds: expected a number of rounds, got 1.5',
    ],
    [
      file([{ cwnd: 9, rounds: 1, packets: 9, lossEvents: 2 }]),
      'windows[0]: expected no more loss events than rounds, got an object',
    ],
    [
      file([{ cwnd: 9, rounds: 2, packets: 1, lossEvents: 0 }]),
      'windows[0]: expected at least as many packets as rounds, got an object',
    ],
    [
      file([{ cwnd: 9, rounds: 2, lossEvents: 0 }]),
      'windows[0].packets: expected a number of packets, got nothing',
    ],
  ])('refuses %s in one line', (text, message) => {
    expect(() => parsePcwndCounts(text)).toThrow(new InputError(message));
  });
});
