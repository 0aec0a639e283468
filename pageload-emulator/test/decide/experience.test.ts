import { describe, expect, it } from 'vitest';
import { experienceOf, fastestByExperience } from '../../src/decide/experience.ts';
import type { NetworkPath } from '../../src/index.ts';

const pathOf = (udp: NetworkPath['udp']): NetworkPath => ({
  rttMs: 50,
  downBps: 20e6,
  upBps: 5e6,
  loss: 0,
  lossBurst: 1,
  queueBytes: 250_000,
  udp,
});

describe('experience of other pages', () => {
  it('expects HTTP/3 to be the fastest where UDP is open, and HTTP/2 elsewhere', () => {
    expect(fastestByExperience(pathOf({ kind: 'open' }))).toBe('h3');
    expect(fastestByExperience(pathOf({ kind: 'policed', bps: 2e6 }))).toBe('h2');
    expect(fastestByExperience(pathOf({ kind: 'lossy', loss: 0.02 }))).toBe('h2');
    expect(fastestByExperience(pathOf({ kind: 'blocked' }))).toBe('h2');
  });

  it('says less of HTTP/3 where UDP is policed, and nothing where it is lossy or blocked', () => {
    const { h3: open } = experienceOf(pathOf({ kind: 'open' }));
    const { h3: policed } = experienceOf(pathOf({ kind: 'policed', bps: 2e6 }));
    expect(policed!.mean).toBeGreaterThan(0);
    expect(policed!.deviation).toBeGreaterThan(3 * open!.deviation);
    expect(experienceOf(pathOf({ kind: 'lossy', loss: 0.02 })).h3).toBeUndefined();
    expect(experienceOf(pathOf({ kind: 'blocked' })).h3).toBeUndefined();
  });
});
