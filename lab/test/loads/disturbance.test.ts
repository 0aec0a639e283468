import { describe, expect, it } from 'vitest';
import { disturbedBy, foreignCpuMs, type ProcessTimes } from '../../src/loads/disturbance.ts';

const OWN = 100;

/** `[pid, parent, ticks, ticks of ended children]` of each process. */
function times(stealTicks: number, ...processes: [number, number, number, number][]): ProcessTimes {
  return {
    stealTicks,
    processes: new Map(
      processes.map(([pid, parent, ticks, endedTicks]) => [pid, { parent, ticks, endedTicks }]),
    ),
  };
}

const foreign = (before: ProcessTimes, after: ProcessTimes) => foreignCpuMs(before, after, new Set([OWN]));

describe('foreignCpuMs', () => {
  it('counts other processes and the hypervisor, but not its own processes', () => {
    const before = times(3, [1, 0, 5, 0], [OWN, 1, 10, 0], [101, OWN, 10, 0], [50, 1, 10, 0]);
    const after = times(
      5,
      [1, 0, 5, 0],
      [OWN, 1, 90, 0],
      [101, OWN, 95, 0],
      [102, 101, 70, 0],
      [50, 1, 17, 0],
    );
    expect(foreign(before, after)).toBe(90);
  });

  it('counts a process that started in between from its start', () => {
    expect(foreign(times(0, [1, 0, 0, 0]), times(0, [1, 0, 0, 0], [60, 1, 12, 0]))).toBe(120);
  });

  it('counts a process that started and ended in between, through its parent', () => {
    expect(foreign(times(0, [50, 1, 4, 100]), times(0, [50, 1, 4, 130]))).toBe(300);
  });

  it('counts only an ended process’s time after the first reading', () => {
    const before = times(0, [50, 1, 4, 0], [60, 50, 200, 0]);
    expect(foreign(before, times(0, [50, 1, 4, 206]))).toBe(60);
  });

  it('counts an ended process tree through its remaining ancestor', () => {
    const before = times(0, [50, 1, 4, 0], [60, 50, 20, 300], [70, 60, 200, 0]);
    expect(foreign(before, times(0, [50, 1, 4, 525]))).toBe(50);
  });

  it('does not offset one process by another that was never waited for', () => {
    const before = times(0, [50, 1, 4, 0], [60, 50, 200, 0], [70, 1, 0, 0]);
    expect(foreign(before, times(0, [50, 1, 4, 0], [70, 1, 30, 0]))).toBe(300);
  });

  it('leaves out idle processes, also after they have ended', () => {
    const idle = (reading: ProcessTimes, ...pids: number[]): ProcessTimes => {
      for (const pid of pids) Object.assign(reading.processes.get(pid)!, { isIdle: true });
      return reading;
    };
    const before = idle(times(0, [1, 0, 5, 0], [50, 1, 4, 10], [60, 50, 200, 0], [70, 1, 9, 0]), 60, 70);
    // 60 is waited for by 50, with 40 ticks since the first reading; 70 goes on; 1 works for 2 ticks.
    const after = idle(times(0, [1, 0, 7, 0], [50, 1, 4, 250], [70, 1, 90, 0]), 70);
    expect(foreign(before, after)).toBe(20);
  });

  it('counts processes of lower priority by the ratio of the weights', () => {
    const nicer = (reading: ProcessTimes): ProcessTimes => {
      reading.processes.get(60)!.nice = -5;
      return reading;
    };
    const before = nicer(times(0, [50, 1, 0, 0], [60, 1, 0, 0]));
    const after = nicer(times(0, [50, 1, 125, 0], [60, 1, 3, 0]));
    // Watched at nice −10: 125 ticks ten levels below, 3 ticks five levels below.
    const expected = 10 * (125 / 1.25 ** 10 + 3 / 1.25 ** 5);
    expect(foreignCpuMs(before, after, new Set([OWN]), -10)).toBeCloseTo(expected);
    expect(foreignCpuMs(before, after, new Set([OWN]), 0)).toBe(1280);
  });

  it('recognises its own processes after their parent has ended', () => {
    const before = times(0, [1, 0, 0, 0], [OWN, 1, 0, 0], [101, OWN, 0, 0], [102, 101, 0, 0]);
    expect(foreign(before, times(0, [1, 0, 0, 0], [OWN, 1, 0, 0], [102, 1, 50, 0]))).toBe(0);
  });
});

describe('disturbedBy', () => {
  it('accepts a quiet load', () => {
    expect(disturbedBy({ latenessMs: 3, foreignCpu: 0.02, windowMs: 1000 })).toEqual([]);
  });

  it('names each reason', () => {
    expect(disturbedBy({ latenessMs: 0, foreignCpu: 0, windowMs: 1000, slowdown: 1.12 })).toEqual([]);
    expect(disturbedBy({ latenessMs: 0, foreignCpu: 0, windowMs: 1000, slowdown: 1.25 })).toEqual([
      'the processor took 25% longer than usual',
    ]);
    expect(disturbedBy({ latenessMs: 31.4, foreignCpu: 0.52, windowMs: 500 })).toEqual([
      'a packet was 31 ms late',
      'other processes took 260 ms of processor time in 500 ms',
    ]);
  });

  it('allows a long load more than a short one, and every load two ticks and a little lateness', () => {
    const cpu = (ms: number, windowMs: number) =>
      disturbedBy({ latenessMs: 0, foreignCpu: ms / windowMs, windowMs }).length;
    expect([cpu(20, 190), cpu(30, 190), cpu(150, 6000), cpu(190, 6000)]).toEqual([0, 1, 0, 1]);
    const late = (latenessMs: number, windowMs: number) =>
      disturbedBy({ latenessMs, foreignCpu: 0, windowMs }).length;
    expect([late(4, 190), late(6, 190), late(50, 6000), late(70, 6000)]).toEqual([0, 1, 0, 1]);
  });
});
