import { mean } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import type { DayArm, DayLoad } from './run-day.ts';

export interface DayFigures {
  networks: string;
  arm: DayArm;
  loads: number;
  recorded: number;
  detailed: number;
  learned: number;
  /** Geometric mean of the load times over those of the browser alone, less 1. */
  againstOff: number;
  /** The same over the better of the browser's own choice and HTTP/2 at each visit: more is not to be had by keeping HTTP/3 off. */
  againstReachable: number;
  /** Sum of the load times over that of the browser alone, less 1. */
  waiting: number;
}

export function judgeDay(networks: string, arm: DayArm, loads: readonly DayLoad[]): DayFigures {
  const ratio = (timeOf: (load: DayLoad) => number) =>
    Math.exp(mean(loads.map((load) => Math.log(load.pltMs / timeOf(load))))) - 1;
  return {
    networks,
    arm,
    loads: loads.length,
    recorded: loads.filter(({ isRecorded }) => isRecorded).length,
    detailed: loads.filter(({ isDetailed }) => isDetailed).length,
    learned: loads.filter(({ isLearned }) => isLearned).length,
    againstOff: ratio(({ offMs }) => offMs),
    againstReachable: ratio(({ offMs, h2Ms }) => Math.min(offMs, h2Ms)),
    waiting: mean(loads.map(({ pltMs }) => pltMs)) / mean(loads.map(({ offMs }) => offMs)) - 1,
  };
}

export function showDays(days: readonly DayFigures[]): string {
  const percent = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}%`;
  const header = [
    'networks',
    'arm',
    'loads',
    'recorded',
    'in detail',
    'learned',
    'against off',
    'the better',
    'waiting',
  ];
  const rows = days.map(
    ({ networks, arm, loads, recorded, detailed, learned, againstOff, againstReachable, waiting }) => [
      networks,
      arm,
      `${loads}`,
      `${recorded}`,
      `${detailed}`,
      `${learned}`,
      percent(againstOff),
      percent(againstReachable),
      percent(waiting),
    ],
  );
  return `${table([header, ...rows], { numbers: true })}\n`;
}
