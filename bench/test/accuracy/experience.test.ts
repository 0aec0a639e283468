import { describe, expect, it } from 'vitest';
import type { Cell } from '../../src/accuracy/cells.ts';
import { fitExperience } from '../../src/accuracy/experience.ts';

/** A cell whose h3 takes exp(−0.1 − 0.05 ln(rtt / 50)) of h2's time. */
function cell(rttMs: number, udp: 'open' | 'blocked' = 'open'): Cell {
  const h3 = 1000 * Math.exp(-0.1 - 0.05 * Math.log(rttMs / 50));
  const pltMs = new Map([
    ['h2', new Map([[1, 1000]])],
    ['h3', new Map([[1, h3]])],
  ]);
  return {
    link: { udp },
    path: { rttMs, udp: { kind: 'open' } },
    loads: { seeds: [1], pltMs },
  } as unknown as Cell;
}

describe('the prior of measured cells', () => {
  const cells = [5, 10, 20, 40, 80, 160, 200, 300].map((rttMs) => cell(rttMs));

  it('is a line in the logarithm of the round trip', () => {
    expect(fitExperience(cells, 'h3')).toMatchObject({
      mean: expect.closeTo(-0.1, 9),
      slope: expect.closeTo(-0.05, 9),
      deviation: expect.closeTo(0, 9),
      cells: 8,
    });
  });

  it('leaves out networks that hinder UDP, and is none of too few cells', () => {
    expect(fitExperience([...cells, cell(30, 'blocked')], 'h3')?.cells).toBe(8);
    expect(fitExperience(cells.slice(1), 'h3')).toBeNull();
    expect(fitExperience(cells, 'h1')).toBeNull();
  });
});
