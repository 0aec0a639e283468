import { groupBy, mean, PROTOCOLS, quantile } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import type { JudgedReading } from './judge-cell.ts';
import { isTripled } from './longest-request.ts';

/** Groups of readings, one a row. */
const GROUPS: readonly [name: string, of: (reading: JudgedReading) => boolean][] = [
  ['all', () => true],
  ['UDP policed', ({ udp }) => udp === 'policed'],
  ['UDP as open, no loss', ({ udp, lossy }) => udp !== 'policed' && !lossy],
  ['UDP as open, loss', ({ udp, lossy }) => udp !== 'policed' && lossy],
];

/** Figures of the readings of one recorded protocol, form and knowledge. */
interface NetworkReadingFigures {
  group: string;
  key: string;
  count: number;
  /** Absolute errors of expected times. */
  median: Record<string, number | null>;
  p90: Record<string, number | null>;
  regret: number;
  /** Share of recordings with a request that is expected to take three times as long as it was recorded. */
  tripled: number;
  wrongParents: number;
}

export function readingFigures(readings: readonly JudgedReading[]): NetworkReadingFigures[] {
  return GROUPS.flatMap(([group, of]) =>
    [...groupBy(readings.filter(of), keyOf)].map(([key, own]) => {
      const at = (share: number) =>
        Object.fromEntries(
          PROTOCOLS.map((protocol) => {
            const errors = own.flatMap(({ error }) => Math.abs(error[protocol] ?? Number.NaN));
            const known = errors.filter((error) => !Number.isNaN(error));
            return [protocol, known.length === 0 ? null : quantile(known, share)];
          }),
        );
      return {
        group,
        key,
        count: own.length,
        median: at(0.5),
        p90: at(0.9),
        regret: mean(own.map(({ regret }) => regret)),
        tripled: mean(own.map(({ longest }) => Number(isTripled(longest)))),
        wrongParents: mean(own.map((reading) => reading.wrongParents)),
      };
    }),
  );
}

const keyOf = ({ form, knowledge, recorded }: JudgedReading) => `${form} ${knowledge} ${recorded}`;

export function renderReadings(readings: readonly JudgedReading[]): string {
  const figures = readingFigures(readings);
  const header = ['form, known, recorded', 'n', ...PROTOCOLS, ...PROTOCOLS.map((p) => `${p} p90`)];
  return GROUPS.flatMap(([group]) => [
    group,
    table(
      [
        [...header, 'regret', 'tripled', 'wrong parents'],
        ...figures
          .filter((each) => each.group === group)
          .map(({ key, count, median, p90, regret, tripled, wrongParents }) => [
            key,
            `${count}`,
            ...PROTOCOLS.map((protocol) => percent(median[protocol])),
            ...PROTOCOLS.map((protocol) => percent(p90[protocol])),
            ...[percent(regret), percent(tripled), percent(wrongParents)],
          ]),
      ],
      { numbers: true },
    ),
    '',
  ]).join('\n');
}

function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? '' : `${(100 * share).toFixed(1)}%`;
}
