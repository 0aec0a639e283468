/** The sentences and tables of a summary, shared by text and HTML. */

import { PROTOCOL_NAME } from '@hopwise/contract';
import { PROTOCOLS } from '@hopwise/pageload-emulator';
import type { View } from '../ground-truth/ground-truth.ts';
import { CLEAR_LEAD, DECIDED_AGREEMENT, DECIDED_SEEDS } from '../judge/cell-ground-truth.ts';
import { type LeftOut, REASONS, type Reason } from '../judge/cell-loads.ts';
import { GIVE_UP_MS } from '../judge/regret.ts';
import { RULE_NAMES } from '../judge/rules.ts';
import { NONE, percent } from '../output/names.ts';
import type { CellSummary, GroundTruthSummary, ViewSummary } from './summary.ts';

export const VIEW_NAMES: Record<View, string> = { cold: 'cold loads', warm: 'repeat views' };

/** The fastest protocol, its lead, and how reliable that is. */
export function verdict({ best, margin, agreement, seeds, decided }: CellSummary): {
  fastest: string;
  by: string;
  trust: string;
} {
  if (best === null || margin === null || agreement === null) return { fastest: NONE, by: NONE, trust: NONE };
  const agreeing = `${percent(agreement, 0)} of ${seeds}`;
  return {
    fastest: PROTOCOL_NAME[best],
    by: percent(margin),
    trust: decided ? `decided, ${agreeing}` : agreeing,
  };
}

export const VERDICT_NOTE = `Fastest: over the seeds that all forced protocols have, by the next one's median over its own, less 1. Trust: share of bootstraps, over that many seeds, that agree. Decided: by more than ${percent(CLEAR_LEAD, 0)}, in ${percent(DECIDED_AGREEMENT, 0)} of bootstraps over at least ${DECIDED_SEEDS} seeds.`;

/** Numbers of loads: judging, left out, repeated. */
export function loadsText({
  kept,
  judging,
  timeouts,
  unreachable,
  leftOut,
  dropped,
  failures,
}: GroundTruthSummary['loads']): string {
  const failing = [
    ...(timeouts > 0 ? [`${timeouts} without a load event in time`] : []),
    ...(unreachable > 0 ? [`${unreachable} without an answer`] : []),
  ];
  const which = failing.length > 0 ? ` (${failing.join(', ')})` : '';
  return `${kept} loads, of which ${judging} judge${which}. Left out: ${leftOutText(leftOut)}. ${dropped} disturbed and ${failures} failed ones were dropped and made again.`;
}

/** Numbers of left-out loads with reasons. */
export function leftOutText(leftOut: LeftOut): string {
  const out = (Object.entries(leftOut) as [Reason, number][])
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${REASONS[reason]}`);
  return out.length > 0 ? out.join(', ') : 'none';
}

/** Table of how often each protocol is the fastest. */
export function winRows({ wins }: ViewSummary): string[][] {
  return [
    ['fastest', 'cells', `by over ${percent(CLEAR_LEAD, 0)}`, 'decided', 'by, in the median'],
    ...PROTOCOLS.map((protocol) => {
      const { cells, clear, decided, medianMargin } = wins[protocol];
      return [PROTOCOL_NAME[protocol], String(cells), String(clear), String(decided), percent(medianMargin)];
    }),
  ];
}

/** Table of the rules' regret; only its header where none could be judged. */
export function ruleRows({ rules }: ViewSummary): string[][] {
  return [
    ['regret of', 'mean', 'median', 'p95', 'worst', 'on half', 'cells', 'knows'],
    ...rules.flatMap(({ rule, cells, fallbacks, regret, halfRegret }) =>
      regret === null
        ? []
        : [
            [
              RULE_NAMES[rule].name,
              percent(regret.mean),
              percent(regret.median),
              percent(regret.p95),
              percent(regret.max),
              percent(halfRegret),
              fallbacks > 0 ? `${cells}, ${fallbacks} no load` : String(cells),
              RULE_NAMES[rule].knows,
            ],
          ],
    ),
  ];
}

/** Notes on the tables of a view, and its noise. */
export function viewNotes({ noiseFloor, quietSpread, rules }: ViewSummary): string[] {
  const { median, p90, max, series } = quietSpread;
  return [
    "Regret: median load time over that of the page's fastest protocol on the network, less 1. On half: its mean over random halves of the loads.",
    ...(rules.some(({ fallbacks }) => fallbacks > 0) ? [FALLBACK_NOTE] : []),
    ...(noiseFloor.regret
      ? [
          `Noise floor of choosers judged on half of the loads: an oracle that chose by the other half loses ${percent(noiseFloor.regret.mean)} in the mean and ${percent(noiseFloor.regret.p95)} at p95 (${noiseFloor.cells} cells).`,
        ]
      : []),
    ...(median !== null
      ? [
          `Spread where nothing is lost: CV ${percent(median)} in the median, ${percent(p90)} at p90, ${percent(max)} at most (${series} series).`,
        ]
      : []),
  ];
}

export const FALLBACK_NOTE = `No load: the choice does not load the page, as HTTP/3 where UDP is blocked. There the browser's own choice counts or, where that was not measured, HTTP/2 after ${GIVE_UP_MS / 1000} s, when Chromium gives up an unanswered QUIC handshake.`;
