/** Whether the load times that hopwise states of an emulated recording hold that load, and further ones. */
import { groupBy, mean, median } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { buildGraph, type LoadTime, PROTOCOLS, predict } from '@hopwise/pageload-emulator';
import { FORMS, recordLoad } from './record-load.ts';
import { type TrueCell, trueTimes, uniform } from './true-load.ts';

/** What a stated load time is compared with. */
type Compared = 'the recorded load' | 'loads under its protocol' | 'loads under the others';

/** A stated load time beside a true one. */
export interface JudgedRange {
  known: 'network' | 'nothing';
  compared: Compared;
  isWithin: boolean;
  /** Stated median over the true time, less 1. */
  error: number;
  /** Half of the range, as a share of its median. */
  halfWidth: number;
}

/** Judges the ranges of a cell's loads under each protocol, recorded in each form. */
export function judgeRanges(cell: TrueCell): JudgedRange[] {
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || cell.path.udp.kind !== 'blocked');
  const truth = new Map(usable.map((protocol) => [protocol, trueTimes(cell, protocol)]));
  const ranges: JudgedRange[] = [];
  for (const recorded of usable) {
    for (const form of FORMS) {
      const recording = recordLoad(cell, recorded, form);
      const pinned = uniform(buildGraph(recording), recorded);
      for (const known of ['network', 'nothing'] as const) {
        const {
          decision: { protocols },
          fit: { explainedMs, explainedRange },
        } = predict(recording, {
          network: known === 'network' ? cell.path : {},
          knowledge: { pinned, isOtherNetwork: false },
        });
        const judge = (compared: Compared, time: LoadTime | undefined, ms: number | null) => {
          if (time !== undefined && ms !== null) ranges.push({ known, compared, ...compare(time, ms) });
        };
        if (explainedMs !== null && explainedRange !== null)
          judge('the recorded load', { pltMs: explainedMs, ...explainedRange }, recording.pltMs);
        for (const [protocol, times] of truth) {
          const compared = protocol === recorded ? 'loads under its protocol' : 'loads under the others';
          for (const ms of times) judge(compared, protocols[protocol], ms);
        }
      }
    }
  }
  return ranges;
}

const compare = ({ pltMs, low, high }: LoadTime, ms: number) => ({
  isWithin: low <= ms && ms <= high,
  error: pltMs / ms - 1,
  halfWidth: (high - low) / 2 / pltMs,
});

export function renderRanges(ranges: readonly JudgedRange[]): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
  const rows = [...groupBy(ranges, ({ known, compared }) => `${known} ${compared}`).values()].map((own) => [
    own[0]!.known,
    own[0]!.compared,
    `${own.length}`,
    percent(mean(own.map(({ isWithin }) => Number(isWithin)))),
    percent(median(own.map(({ error }) => Math.abs(error)))),
    percent(median(own.map(({ halfWidth }) => halfWidth))),
  ]);
  const header = ['known', 'compared with', 'n', 'in range', 'median error', 'half of range'];
  return `Ranges of the fit and of the decision\n${table([header, ...rows.sort()], { numbers: true })}\n`;
}
