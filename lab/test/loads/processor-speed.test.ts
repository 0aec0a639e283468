import { median } from '@hopwise/contract';
import { describe, expect, it } from 'vitest';
import { ProcessorSpeed, processorSpeed } from '../../src/loads/processor-speed.ts';

/** A processor whose successive probes take these times. */
function speedOf(...timesMs: number[]): ProcessorSpeed {
  return new ProcessorSpeed(() => timesMs.shift()!);
}

const slowdowns = (speed: ProcessorSpeed, count: number): number[] =>
  Array.from({ length: count }, () => speed.slowdown());

describe('the speed of the processor', () => {
  it('is compared with the median of earlier probes', () => {
    const speed = speedOf(2, 9, 2, 2, 1, 2, 3, 2);
    expect(slowdowns(speed, 8)).toEqual([1, 1, 1, 1, 1, 1, 1.5, 1]);
  });

  it('becomes usual when it persists', () => {
    const speed = speedOf(...new Array(100).fill(2), ...new Array(201).fill(3));
    const all = slowdowns(speed, 301);
    expect(all[100]).toBe(1.5);
    expect(all[300]).toBe(1);
  });

  it('does not become usual by probes that do not count', () => {
    const speed = speedOf(...new Array(5).fill(2), ...new Array(21).fill(3));
    slowdowns(speed, 5);
    for (let probe = 0; probe < 20; probe++) expect(speed.slowdown(false)).toBe(1.5);
    expect(speed.slowdown()).toBe(1.5);
  });

  it('is stable from moment to moment, and cheap to measure', () => {
    slowdowns(processorSpeed, 5);
    const before = process.cpuUsage();
    const all = slowdowns(processorSpeed, 20);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000 / 20).toBeLessThan(30);
    expect(Math.abs(median(all) - 1)).toBeLessThan(0.3);
  });
});
