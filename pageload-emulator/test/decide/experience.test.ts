import { describe, expect, it } from 'vitest';
import { experienceOf, fastestByExperience } from '../../src/decide/experience.ts';
import { predict } from '../../src/index.ts';
import { pathOf } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

describe('experience of other pages', () => {
  it('expects HTTP/3 to be the fastest where UDP is open, and HTTP/2 elsewhere', () => {
    expect(fastestByExperience(pathOf({ udp: { kind: 'open' } }))).toBe('h3');
    expect(fastestByExperience(pathOf({ udp: { kind: 'policed', bps: 2e6 } }))).toBe('h2');
    expect(fastestByExperience(pathOf({ udp: { kind: 'lossy', loss: 0.02 } }))).toBe('h2');
    expect(fastestByExperience(pathOf({ udp: { kind: 'blocked' } }))).toBe('h2');
  });

  it('says less of HTTP/3 where UDP is policed, and nothing where it is lossy or blocked', () => {
    const { h3: open } = experienceOf(pathOf({ udp: { kind: 'open' } }));
    const { h3: policed } = experienceOf(pathOf({ udp: { kind: 'policed', bps: 2e6 } }));
    expect(policed!.mean).toBeGreaterThan(0);
    expect(policed!.deviation).toBeGreaterThan(3 * open!.deviation);
    expect(experienceOf(pathOf({ udp: { kind: 'lossy', loss: 0.02 } })).h3).toBeUndefined();
    expect(experienceOf(pathOf({ udp: { kind: 'blocked' } })).h3).toBeUndefined();
  });

  it.each([4, 6, 8])('leaves most of what the emulation of a page says of it: page %d', (seed) => {
    const graph = randomPage(seed);
    const overH2 = Object.fromEntries(graph.origins.map((origin) => [origin, 'h2' as const]));
    const path = pathOf({ rttMs: 40, downBps: 30e6 });
    const recording = recordLoad(graph, path, randomServers(graph, seed), overH2, seed);
    const { best, margin, emulated } = predict(recording, { network: path });
    expect([best, emulated.best]).toEqual(['h3', 'h3']);
    expect(emulated.margin).toBeGreaterThan(0.2);
    expect(margin).toBeGreaterThan(emulated.margin / 2);
  });
});
