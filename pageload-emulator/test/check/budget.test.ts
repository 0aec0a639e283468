import {
  checkPage,
  InputError,
  judgeFigures,
  limitsOn,
  parseBudget,
  parseNetworks,
  parseRecording,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { shareOnBest } from '../../src/check-page.ts';
import { chromiumHar } from '../support/hars.ts';
import { pathOf } from '../support/pages.ts';

const LTE = { rttMs: 70, downMbps: 12, upMbps: 6, loss: 0.001 };
const networksOf = (networks: object) => parseNetworks(JSON.stringify(networks));

describe('networks by name', () => {
  it('have one bandwidth-delay product of queue, open UDP and equal shares unless they say otherwise', () => {
    expect(networksOf({ lte: LTE, other: LTE })[0]).toEqual({
      name: 'lte',
      share: 1 / 2,
      path: {
        rttMs: 70,
        downBps: 12e6,
        upBps: 6e6,
        loss: 0.001,
        lossBurst: 1,
        // 12 Mbit/s are 1,500 bytes a millisecond, for 70 ms.
        queueBytes: 105_000,
        udp: { kind: 'open' },
      },
    });
  });

  it.each([
    // 1,500 bytes a millisecond, for 200 ms.
    [{ ms: 200 }, 300_000],
    [{ bytes: 64_000 }, 64_000],
    // Twice 105,000 bytes.
    [{ bdp: 2 }, 210_000],
    // Two full packets at least.
    [{ bytes: 10 }, 3_000],
  ])('take a queue of %j', (queue, bytes) => {
    expect(networksOf({ lte: { ...LTE, queue } })[0]!.path.queueBytes).toBe(bytes);
  });

  it('share the visitors', () => {
    const networks = networksOf({ a: { ...LTE, visitors: 30 }, b: { ...LTE, visitors: 10, udp: 'blocked' } });
    expect(networks.map(({ share }) => share)).toEqual([30 / 40, 10 / 40]);
    expect(networks[1]!.path.udp).toEqual({ kind: 'blocked' });
    const policed = networksOf({ a: { ...LTE, udp: { policedMbps: 2 } } });
    expect(policed[0]!.path.udp).toEqual({ kind: 'policed', bps: 2e6 });
  });

  it.each([
    ['{', /^top level: expected networks by name as JSON, got /],
    ['[]', /^top level: expected an object of networks by name, got an array$/],
    ['{}', /^top level: expected 1 to 100 networks, got 0$/],
    [
      JSON.stringify({ a: { ...LTE, rttMs: 'x' } }),
      /^a\.rttMs: expected milliseconds from 0 to 60000, got "x"$/,
    ],
    [JSON.stringify({ a: { ...LTE, loss: 2 } }), /^a\.loss: expected a fraction from 0 to 0\.5, got 2$/],
    [JSON.stringify({ a: { ...LTE, udp: 3 } }), /^a\.udp: expected "open", "blocked" or .*, got 3$/],
    [JSON.stringify({ a: { ...LTE, jitterMs: 3 } }), /^a\.jitterMs: expected no entry of this name/],
    [JSON.stringify({ a: { ...LTE, visitors: 0 } }), /^top level: expected a network with visitors above 0/],
    [JSON.stringify({ a: 3 }), /^a: expected a network with rttMs, .*, got 3$/],
  ])('refuse %s', (text, line) => {
    expect(() => parseNetworks(text)).toThrow(InputError);
    expect(() => parseNetworks(text)).toThrow(line);
  });
});

describe('a budget', () => {
  const networks = networksOf({ lte: LTE, '3g': LTE });
  const budgetOf = (budget: object) => parseBudget(JSON.stringify(budget), networks);

  it('has limits of single networks, which replace the common ones', () => {
    const budget = budgetOf({ loadTimeMs: 3000, gainLeft: 0.1, networks: { '3g': { loadTimeMs: 9000 } } });
    expect(limitsOn(budget, 'lte')).toEqual({ loadTimeMs: 3000, gainLeft: 0.1 });
    expect(limitsOn(budget, '3g')).toEqual({ loadTimeMs: 9000, gainLeft: 0.1 });
  });

  it.each([
    [{}, /^top level: expected at least one limit of loadTimeMs, .*, got none$/],
    [{ networks: { lte: {} } }, /^top level: expected at least one limit/],
    [{ loadTimeMs: -1 }, /^loadTimeMs: expected milliseconds from 0 to 600000, got -1$/],
    [{ gainLeft: 10 }, /^gainLeft: expected a share from 0 to 1, got 10$/],
    [{ loadTime: 3000 }, /^loadTime: expected no entry of this name/],
    [{ networks: { lte: { plt: 1 } } }, /^networks\.lte\.plt: expected no entry of this name/],
    [{ networks: { dsl: { loadTimeMs: 1 } } }, /^networks\.dsl: expected one of the networks lte, 3g$/],
  ])('refuses %j', (budget, line) => {
    expect(() => budgetOf(budget)).toThrow(line);
  });

  it('is kept by what equals its limits', () => {
    const figures = {
      loadTimeMs: 3000,
      firstPaintMs: null,
      largestPaintMs: null,
      originsOnBest: 0.75,
      gainLeft: 0.2,
    };
    const breachesOf = (limits: object) =>
      judgeFigures(figures, limits)
        .filter(({ isBreach }) => isBreach)
        .map(({ figure }) => figure);
    expect(breachesOf({ loadTimeMs: 3000, originsOnBest: 0.75, gainLeft: 0.2 })).toEqual([]);
    expect(breachesOf({ loadTimeMs: 2999, originsOnBest: 0.76, gainLeft: 0.19 })).toEqual([
      'loadTimeMs',
      'originsOnBest',
      'gainLeft',
    ]);
    // Without the figure there is nothing to judge.
    expect(judgeFigures(figures, { firstPaintMs: 1 })).toEqual([]);
  });
});

describe('a checked page', () => {
  it('has the share of origins for which nothing is clearly better than what the browser does', () => {
    const own = { a: 'h2', b: 'h2', c: 'h2' } as const;
    const origins = [
      { origin: 'a', protocol: 'h2', decided: true },
      { origin: 'b', protocol: 'h3', decided: true },
      { origin: 'c', protocol: 'h3', decided: false },
    ] as const;
    expect(shareOnBest(origins, own)).toBe(2 / 3);
    expect(shareOnBest([], own)).toBe(1);
  });

  it('loads as slowly as the network asked about, however fast it was recorded', () => {
    const recording = parseRecording(JSON.stringify(chromiumHar()));
    expect(recording.pltMs).toBe(500);
    const { loadTimeMs, range } = checkPage(recording, pathOf({ rttMs: 600 }));
    // The document and then a script of another origin: for each a round trip of TCP, of TLS and of the request.
    expect(loadTimeMs).toBeGreaterThan(6 * 600);
    expect(range.low).toBeLessThan(loadTimeMs);
    expect(range.high).toBeGreaterThan(loadTimeMs);
  });
});
