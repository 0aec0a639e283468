import type { MeasuredLoads } from '@hopwise/contract';
import { type Protocol, predict, type Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { english } from '../../src/explain/sentences/english.ts';
import { german } from '../../src/explain/sentences/german.ts';
import { pathOf } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

const SEEDS = [1, 2, 3, 4, 5, 6];

/** Pages recorded over HTTP/2, which shows nothing of UDP. */
function recordings(rttMs: number, downBps: number) {
  const path = pathOf({ rttMs, downBps });
  return SEEDS.map((seed) => {
    const graph = randomPage(seed);
    const overH2 = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
    return recordLoad(graph, path, randomServers(graph, seed), overH2, seed);
  });
}

const pltOf = ({ protocols }: ReturnType<typeof predict>, protocol: 'h2' | 'h3'): number =>
  (protocols[protocol] as { pltMs: number }).pltMs;

describe('a policer of UDP that is unlikely', () => {
  it('makes another protocol the best where HTTP/3 gains less than the policer might cost', () => {
    let avoided = 0;
    for (const recording of recordings(5, 200e6)) {
      const unknown = predict(recording);
      const open = predict(recording, { network: { udp: { kind: 'open' } } });
      // The times are those of the likely network in any case.
      expect(pltOf(unknown, 'h3') / pltOf(open, 'h3')).toBeCloseTo(1, 1);
      if (open.best !== 'h3') expect(unknown.best).toBe(open.best);
      if (unknown.best === open.best) continue;
      avoided++;
      expect(unknown.best).not.toBe('h3');
      expect(pltOf(unknown, 'h2')).toBeLessThan(1.15 * pltOf(unknown, 'h3'));
      expect(unknown.reasons).toEqual([
        expect.stringMatching(
          /^HTTP\/[12](\.1)? is the safest until it is known whether this network holds back UDP: if it does, HTTP\/3 takes about [\d.]+ times as long\.$/,
        ),
      ]);
      expect(unknown.decision.kind).not.toBe('act');
    }
    expect(avoided).toBeGreaterThan(0);
  });

  it('leaves HTTP/3 the best where it gains more', () => {
    for (const recording of recordings(150, 10e6)) expect(predict(recording).best).toBe('h3');
  });

  it('counts no more once HTTP/3 was fast', () => {
    for (const recording of recordings(5, 200e6)) {
      const { best, reasons } = predict(recording, { knowledge: { loads: [loadsOver('h3', recording)] } });
      expect(best).toBe('h3');
      expect(reasons.join()).not.toContain('safest');
    }
  });

  it.each(['h1', 'h2', 'browser'] as const)(
    'still counts after loads %s, which show nothing of UDP',
    (under) => {
      const [recording] = recordings(5, 200e6);
      const { best, reasons } = predict(recording!, {
        knowledge: { loads: [loadsOver(under, recording!)] },
      });
      expect(best).not.toBe('h3');
      expect(reasons.join()).toContain('safest');
    },
  );

  it('is named where the page would not load at all', () => {
    expect(english.page.saferUnlessPoliced('h2', Number.POSITIVE_INFINITY)).toMatch(
      /: if it does, the page does not load over HTTP\/3\.$/,
    );
    expect(german.page.saferUnlessPoliced('h2', Number.POSITIVE_INFINITY)).toMatch(
      /: Wenn ja, lädt die Seite mit HTTP\/3 nicht\.$/,
    );
  });
});

/** Five measured loads of a page, a tenth faster than its recorded one. */
function loadsOver(under: Protocol | 'browser', { requests, pltMs }: Recording): MeasuredLoads {
  const pins = requests.map(({ url }) => [new URL(url).origin, under]);
  return {
    under: under === 'browser' ? under : Object.fromEntries(pins),
    pltMs: Array(5).fill(pltMs! * 0.9),
    ageMs: 0,
  };
}
