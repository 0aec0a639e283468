/** Claims on recorded pages: Table 4 and Figure 12. */
import { join } from 'node:path';
import { bootstrapInterval, drawn } from '@hopwise/lab/statistics';
import type { Claim, Finding } from '../claim.ts';
import {
  CHOOSERS,
  countRight,
  gainOf,
  haveH3,
  type PageCell,
  type PageChooser,
  readPageCells,
  TOLERANCE,
  timeOverEcon,
} from './page-choices.ts';
import { LOSSES, measurePages, PAGES } from './recorded-pages.ts';

/** Table 4, by `LOSSES`. */
const RIGHT = [10, 8, 8, 8];
const GAINS = [0.448, 0.365, 0.556, 0.56];
/** The ratio of one rule over ECON, "significantly" longer in the words of section 6.4.4: above what repeated loads differ by. */
const SIGNIFICANT = 1 + TOLERANCE;

const CHOOSING = CHOOSERS.slice(0, 4);
const ALONE = ['always HTTP/1.1', 'always HTTP/2'] as const;

/** The loads are made once for all claims of one call. */
export function pageClaims(): Claim[] {
  let cells: Promise<string | PageCell[]> | undefined;
  const on =
    (find: (cells: readonly PageCell[]) => Finding): Claim['measure'] =>
    async ({ data, quick, protocols, loads, out, limitMs }, context) => {
      if (quick) return { kind: 'skipped', reason: 'page loads take an hour: run without --quick' };
      if (data === undefined) return { kind: 'skipped', reason: 'data not given: --data' };
      cells ??= (async () => {
        const dir = join(out, 'econ-pages');
        const recordings = join(data, 'har');
        const pages = {
          recordings,
          out: dir,
          protocols,
          loads,
          ...(limitMs === undefined ? {} : { limitMs }),
        };
        return (await measurePages(pages, context)) ?? readPageCells(dir, protocols);
      })();
      const judged = await cells;
      if (typeof judged === 'string') return { kind: 'skipped', reason: judged };
      const all = PAGES * LOSSES.length;
      return judged.length < all
        ? { kind: 'skipped', reason: `${judged.length} of ${all} cells have loads that judge` }
        : find(judged);
    };
  return [
    {
      id: 'econ-pages-choice',
      paper: 'econ',
      place: 'Table 4',
      stated: `ECON chooses the faster of HTTP/1.1 and HTTP/2 for ${RIGHT.join(', ')} of 10 pages at ${LOSSES.map(percent).join(', ')} loss`,
      measure: on(choiceFinding),
    },
    {
      id: 'econ-pages-gain',
      paper: 'econ',
      place: 'Table 4',
      stated: `pages load in ${GAINS.map(percent).join(', ')} less time by ECON's choice than by the wrong one, at ${LOSSES.map(percent).join(', ')} loss`,
      measure: on(gainFinding),
    },
    {
      id: 'econ-pages-alone',
      paper: 'econ',
      place: 'Figure 12',
      stated:
        'HTTP/1.1 alone and HTTP/2 alone take significantly longer than ECON’s choices, on average over the pages, under certain losses',
      measure: on(aloneFinding),
    },
  ];
}

export function choiceFinding(cells: readonly PageCell[]): Finding {
  const margins = LOSSES.map((loss, index) => countRight(at(cells, loss), 'ECON', TOLERANCE) - RIGHT[index]!);
  const counts = (tolerance: number) => (chooser: PageChooser) =>
    `${chooser} ${LOSSES.map((loss) => countRight(at(cells, loss), chooser, tolerance)).join(', ')}`;
  const [econ, ...others] = CHOOSING.map(counts(TOLERANCE));
  return {
    kind: 'measured',
    hopwise: `${others.join('; ')}, from one load of each page and the link’s settings, as ECON`,
    real: {
      source: 'Chromium',
      value: Math.min(...margins),
      min: 0,
      bounds:
        'at each loss its choice takes at most 5% longer than the other protocol for as many pages as in the paper',
      text: `${econ} of ${PAGES}; without the 5% ${CHOOSING.map(counts(0)).join('; ')}; ${settings(cells)}`,
    },
  };
}

export function gainFinding(cells: readonly PageCell[]): Finding {
  const gains = LOSSES.map((loss) => gainOf(at(cells, loss), 'ECON'));
  const inWords = LOSSES.map((loss, index) => {
    const own = at(cells, loss);
    const interval = bootstrapInterval(gains[index]!, (random) => gainOf(drawn(own, random), 'ECON'))!;
    return `${percent(gains[index]!)} (${percent(interval.low)} to ${percent(interval.high)})`;
  });
  const others = CHOOSING.slice(1).map(
    (chooser) => `${chooser} ${LOSSES.map((loss) => percent(gainOf(at(cells, loss), chooser))).join(', ')}`,
  );
  const possible = LOSSES.map((loss) => {
    const own = at(cells, loss);
    return percent(
      own.reduce((sum, { measured: { h1, h2 } }) => sum + 1 - Math.min(h1, h2) / Math.max(h1, h2), 0) /
        own.length,
    );
  });
  return {
    kind: 'measured',
    hopwise: others.join('; '),
    real: {
      source: 'Chromium',
      value: Math.min(...gains),
      min: Math.min(...GAINS),
      bounds: `the mean over the pages is at least ${percent(Math.min(...GAINS))}, the paper’s smallest, at each loss`,
      text: `${inWords.join(', ')} with 95% intervals over the pages; always right ${possible.join(', ')}; ${settings(cells)}`,
    },
  };
}

export function aloneFinding(cells: readonly PageCell[]): Finding {
  const ratios = (chooser: PageChooser) => LOSSES.map((loss) => timeOverEcon(at(cells, loss), chooser));
  const inWords = (chooser: PageChooser) =>
    `${chooser} ${ratios(chooser)
      .map((ratio) => ratio.toFixed(2))
      .join(', ')}`;
  const others: PageChooser[] = [
    'hopwise',
    ...(haveH3(cells) ? (['hopwise with HTTP/3', 'HTTP/3 unless UDP is hindered'] as const) : []),
  ];
  return {
    kind: 'measured',
    hopwise: `times over ECON’s: ${others.map(inWords).join('; ')}`,
    real: {
      source: 'Chromium',
      value: Math.min(...ALONE.map((chooser) => Math.max(...ratios(chooser)))),
      min: SIGNIFICANT,
      bounds: 'each takes at least 5% longer than ECON’s choices at one loss or more',
      text: `times over ECON’s: ${ALONE.map(inWords).join('; ')}; ${settings(cells)}`,
    },
  };
}

const at = (cells: readonly PageCell[], loss: number): PageCell[] =>
  cells.filter((cell) => cell.loss === loss);

function settings(cells: readonly PageCell[]): string {
  const loads = cells.map(({ loads }) => loads);
  const [least, most] = [Math.min(...loads), Math.max(...loads)];
  return `at ${LOSSES.map(percent).join(', ')} loss, 50 ms and 50 Mbit/s; medians of ${least === most ? least : `${least} to ${most}`} loads, the paper’s of 10`;
}

const percent = (fraction: number): string => `${Number((100 * fraction).toPrecision(3))}%`;
