/** Figures over the recordings of many cells. */
import { groupBy, mean, median, quantile, sum } from '@hopwise/contract';
import type { Rule } from '@hopwise/lab/judge/rules';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import {
  bootstrapInterval,
  type ConfidenceInterval,
  drawn,
  meanOrNull,
  medianOrNull,
} from '@hopwise/lab/statistics';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { KNOWN_MEANS, type KnownMeans } from './known-graph.ts';
import { RECORDERS, type Recorder } from './recorders.ts';
import {
  FIGURE_NAMES,
  type JudgedRegret,
  MODES,
  type Mode,
  type NetworkFigureName,
  PREDICTION_MODES,
  type PredictionMode,
  type ReadingScore,
} from './score-cell.ts';

/** Shares and errors are fractions of 1. */
export interface ReadingFigures {
  recordings: number;
  pages: number;
  cells: number;
  /** Null without known pages. */
  graph: GraphFigures | null;
  reproduction: { loads: number; pltWithin5: number; startsClose: number; firstBytesClose: number } | null;
  /** Errors of predicted PLT by what the network does to UDP and by recorded protocol. */
  cross: Record<Mode, Partial<Record<'policed' | 'other', Partial<Record<ProtocolMode, Errors>>>>>;
  /** Pairs of recordings of one page on two networks: predictions for a third that agree within 10%. */
  invariance: ReadingShare | null;
  /** By other recorders: mean likeness of the dependencies, and the share of recordings whose predictions agree within 2%. */
  recorders: Partial<Record<Recorder, { edges: ReadingShare; agree: ReadingShare }>>;
  /** 80% ranges of the network's figures from the recording alone that hold the true value. */
  networkRanges: Partial<Record<NetworkFigureName, ReadingShare>>;
  /** 80% ranges of PLT: measured loads within them. */
  ranges: Record<PredictionMode, ReadingShare | null>;
  regret: Record<Mode, Partial<Record<ProtocolMode, ReadingRegret>>>;
  decisionRegret: Record<PredictionMode, Partial<Record<ProtocolMode, ReadingRegret>>>;
  /** Regret of the rule that `ReadingScore.ruleRegret` judges. */
  ruleRegret: Partial<Record<ProtocolMode, ReadingRegret>>;
  rules: Partial<Record<Rule, ReadingRegret>>;
  noise: {
    /** Regret on single seeds of an oracle that chose by the other seeds; null without cells of several seeds. */
    floor: number | null;
    /** Median coefficient of variation of a protocol's loads in a cell, by whether the network loses packets at random. */
    spread: { lossless: number | null; lossy: number | null };
  };
}

export interface ReadingShare {
  of: number;
  share: number;
}

export interface Errors {
  predictions: number;
  /** Quantiles are those of the absolute errors. */
  median: number;
  p90: number;
  /** Median of the errors with their sign. */
  bias: number;
}

export interface ReadingRegret {
  cells: number;
  mean: number;
  /** 95%, from pages drawn with replacement. */
  interval: ConfidenceInterval | null;
  /** Mean over single seeds, to compare with the noise floor. */
  perSeed: number;
}

interface GraphFigures {
  recall: ReadingShare;
  recallBy: Partial<Record<KnownMeans, ReadingShare>>;
  precision: ReadingShare;
  thinkTimes: ReadingShare;
  extraRtts: ReadingShare;
}

export const FROM: readonly ProtocolMode[] = ['natural', 'h1', 'h2', 'h3'];
const AGREEMENT = 0.1;
const MIN_PAGES = 3;

/**
 * @param rules the regret of fixed rules by cell
 * @param noise of each cell
 */
export function readingFigures(
  scores: readonly ReadingScore[],
  rules: readonly RuleRegret[],
  noise: readonly CellNoise[],
): ReadingFigures {
  return {
    recordings: scores.length,
    pages: new Set(scores.map(({ page }) => page)).size,
    cells: new Set(scores.map(({ page, network }) => JSON.stringify([page, network]))).size,
    graph: graphFigures(scores),
    reproduction: reproduction(scores),
    cross: byMode(MODES, (mode) => ({
      policed: byFrom(scores.filter(isPoliced), (own) => errorsOf(own, mode)),
      other: byFrom(
        scores.filter((score) => !isPoliced(score)),
        (own) => errorsOf(own, mode),
      ),
    })),
    invariance: invariance(scores),
    recorders: recorderFigures(scores),
    networkRanges: networkRanges(scores),
    ranges: byMode(PREDICTION_MODES, (mode) => {
      const of = sum(scores.map(({ ranges }) => ranges[mode].loads));
      const within = sum(scores.map(({ ranges }) => ranges[mode].within));
      return of === 0 ? null : { of, share: within / of };
    }),
    regret: byMode(MODES, (mode) =>
      byFrom(scores, (own) =>
        regretOver(own.map(({ page, network, regret }) => ({ page, network, regret: regret[mode] }))),
      ),
    ),
    decisionRegret: byMode(PREDICTION_MODES, (mode) =>
      byFrom(scores, (own) =>
        regretOver(
          own.map(({ page, network, decisionRegret }) => ({ page, network, regret: decisionRegret[mode] })),
        ),
      ),
    ),
    ruleRegret: byFrom(scores, (own) =>
      regretOver(own.map(({ page, network, ruleRegret }) => ({ page, network, regret: ruleRegret }))),
    ),
    rules: ruleFigures(rules),
    noise: noiseFigures(noise),
  };
}

export interface RuleRegret {
  rule: Rule;
  page: string;
  network: string;
  regret: JudgedRegret | null;
}

export interface CellNoise {
  isLossy: boolean;
  floor: number | null;
  spreads: number[];
}

const isPoliced = ({ udp }: ReadingScore): boolean => udp === 'policed';

function byMode<M extends Mode, T>(modes: readonly M[], of: (mode: M) => T): Record<M, T> {
  return Object.fromEntries(modes.map((mode) => [mode, of(mode)])) as Record<M, T>;
}

function byFrom<T>(
  scores: readonly ReadingScore[],
  of: (own: ReadingScore[]) => T | null,
): Partial<Record<ProtocolMode, T>> {
  return Object.fromEntries(
    FROM.flatMap((from) => {
      const own = of(scores.filter((score) => score.from === from));
      return own === null ? [] : [[from, own]];
    }),
  );
}

function errorsOf(scores: readonly ReadingScore[], mode: Mode): Errors | null {
  const errors = scores.flatMap((score) => Object.values(score.errors[mode]));
  if (errors.length === 0) return null;
  const absolute = errors.map(Math.abs);
  return {
    predictions: errors.length,
    median: median(absolute),
    p90: quantile(absolute, 0.9),
    bias: median(errors),
  };
}

/** A cell's recordings count as one: their mean. */
function regretOver(
  regrets: readonly { page: string; network: string; regret: JudgedRegret | null }[],
): ReadingRegret | null {
  const cells = [
    ...groupBy(
      regrets.filter(({ regret }) => regret !== null),
      ({ page, network }) => JSON.stringify([page, network]),
    ).values(),
  ];
  const means = cells.map((own) => ({
    page: own[0]!.page,
    regret: mean(own.map(({ regret }) => regret!.overall)),
    perSeed: mean(own.map(({ regret }) => regret!.perSeed)),
  }));
  if (means.length === 0) return null;
  const meanRegret = (own: typeof means) => mean(own.map(({ regret }) => regret));
  const pages = [...groupBy(means, ({ page }) => page).values()];
  const estimate = meanRegret(means);
  return {
    cells: means.length,
    mean: estimate,
    perSeed: mean(means.map(({ perSeed }) => perSeed)),
    interval:
      pages.length < MIN_PAGES
        ? null
        : bootstrapInterval(estimate, (random) => meanRegret(drawn(pages, random).flat()), {
            resamples: 1000,
          }),
  };
}

function graphFigures(scores: readonly ReadingScore[]): GraphFigures | null {
  const graphs = scores.flatMap(({ graph }) => graph ?? []);
  if (graphs.length === 0) return null;
  const share = (counts: readonly { of: number; right: number }[]): ReadingShare => {
    const of = sum(counts.map((each) => each.of));
    return { of, share: of === 0 ? 1 : sum(counts.map(({ right }) => right)) / of };
  };
  const found = (means: KnownMeans) =>
    graphs.map(({ parents }) => ({ of: parents[means].requests, right: parents[means].found }));
  const stated = (of: 'dependencies' | 'thinkTimes' | 'extraRtts') =>
    share(graphs.map((graph) => ({ of: graph[of].stated, right: graph[of].right })));
  return {
    recall: share(KNOWN_MEANS.flatMap(found)),
    recallBy: Object.fromEntries(KNOWN_MEANS.map((means) => [means, share(found(means))])),
    precision: stated('dependencies'),
    thinkTimes: stated('thinkTimes'),
    extraRtts: stated('extraRtts'),
  };
}

function reproduction(scores: readonly ReadingScore[]): ReadingFigures['reproduction'] {
  const own = scores.flatMap(({ reproduced }) => reproduced ?? []);
  if (own.length === 0) return null;
  const requests = sum(own.map((each) => each.requests));
  return {
    loads: own.length,
    pltWithin5: mean(own.map(({ error }) => Number(Math.abs(error) <= 0.05))),
    startsClose: sum(own.map(({ starts }) => starts)) / requests,
    firstBytesClose: sum(own.map(({ firstBytes }) => firstBytes)) / requests,
  };
}

/** Shares count recordings under the same protocol. */
function invariance(scores: readonly ReadingScore[]): ReadingShare | null {
  const agree: number[] = [];
  const groups = [...groupBy(scores, ({ page, from }) => JSON.stringify([page, from])).values()];
  for (const own of groups) {
    for (const [at, one] of own.entries()) {
      for (const other of own.slice(at + 1)) {
        if (one.network === other.network) continue;
        for (const protocol of PROTOCOLS) {
          const [a, b] = [one.onThirdMs[protocol as Protocol], other.onThirdMs[protocol as Protocol]];
          if (a !== undefined && b !== undefined)
            agree.push(Number(Math.max(a, b) <= (1 + AGREEMENT) * Math.min(a, b)));
        }
      }
    }
  }
  return agree.length === 0 ? null : { of: agree.length, share: mean(agree) };
}

function recorderFigures(scores: readonly ReadingScore[]): ReadingFigures['recorders'] {
  const share = (values: number[]): ReadingShare => ({ of: values.length, share: mean(values) });
  return Object.fromEntries(
    RECORDERS.flatMap((recorder) => {
      const own = scores.flatMap(({ recorders }) => recorders[recorder] ?? []);
      if (own.length === 0) return [];
      const edges = share(own.map(({ likeness }) => likeness));
      return [[recorder, { edges, agree: share(own.map(({ agrees }) => Number(agrees))) }]];
    }),
  );
}

function networkRanges(scores: readonly ReadingScore[]): ReadingFigures['networkRanges'] {
  return Object.fromEntries(
    FIGURE_NAMES.flatMap((name) => {
      const held = scores.flatMap(({ figures }) => figures[name] ?? []);
      return held.length === 0 ? [] : [[name, { of: held.length, share: mean(held.map(Number)) }]];
    }),
  );
}

function ruleFigures(rules: readonly RuleRegret[]): ReadingFigures['rules'] {
  return Object.fromEntries(
    [...new Set(rules.map(({ rule }) => rule))].flatMap((rule) => {
      const own = regretOver(rules.filter((each) => each.rule === rule));
      return own === null ? [] : [[rule, own]];
    }),
  );
}

function noiseFigures(noise: readonly CellNoise[]): ReadingFigures['noise'] {
  return {
    floor: meanOrNull(noise.flatMap(({ floor }) => floor ?? [])),
    spread: {
      lossless: medianOrNull(noise.flatMap(({ isLossy, spreads }) => (isLossy ? [] : spreads))),
      lossy: medianOrNull(noise.flatMap(({ isLossy, spreads }) => (isLossy ? spreads : []))),
    },
  };
}
