/** Summarises the loads of a folder: the fastest protocol of each cell, and the regret of simple rules. */

import { mean, median, quantile } from '@hopwise/contract';
import type { Protocol } from '@hopwise/pageload-emulator';
import type { GroundTruthLoad, GroundTruthMatrix, LoadProtocol, View } from '../ground-truth/ground-truth.ts';
import { type CellGroundTruth, groundTruthOf } from '../judge/cell-ground-truth.ts';
import {
  type BySeed,
  type CellLoads,
  doesNotLoad,
  judgeLoads,
  type LeftOut,
  type Missing,
} from '../judge/cell-loads.ts';
import { type Halves, halfRegretOf, halvesOf, noiseOf, pairedRatio, regretOf } from '../judge/regret.ts';
import { isTried, isUdpFree, RULES, type Rule, ruleChoice } from '../judge/rules.ts';
import { bootstrapMedian, coefficientOfVariation, meanOrNull, medianOrNull, spread } from '../statistics.ts';

/** Judging loads of one protocol in a cell. Milliseconds; null stands for a load without a load event in time. */
export interface SeriesSummary {
  loads: number;
  /** Loads among those without a load event in time. */
  timeouts: number;
  medianMs: number;
  /** Extremes, or 10th and 90th percentile from ten loads on. */
  lowMs: number;
  highMs: number | null;
  /** 95% bootstrap interval of the median. */
  medianLowMs: number;
  medianHighMs: number | null;
  /** Standard deviation over mean; null for one load, and where one timed out. */
  cv: number | null;
  /** Median over that of the cell's fastest forced protocol, over their common seeds; null without one. */
  overBest: number | null;
}

export interface CellSummary {
  page: string;
  network: string;
  view: View;
  /** Number of seeds that all forced protocols that load the page have. */
  seeds: number;
  protocols: Partial<Record<LoadProtocol, SeriesSummary>>;
  /** Reason for missing figures, by tried protocol. */
  unavailable: Partial<Record<LoadProtocol, Missing>>;
  /** The forced protocol with the least median; null where fewer than two load the page. */
  best: Protocol | null;
  /** Next protocol's median over the best one's, less 1. */
  margin: number | null;
  /** Share of bootstraps over the seeds in which `best` has the least median. */
  agreement: number | null;
  /** The margin is above 5%. */
  clear: boolean;
  /** Clear, over at least five seeds, and 90% of the bootstraps agree. */
  decided: boolean;
}

/** Over cells. */
export interface Regret {
  mean: number;
  median: number;
  p95: number;
  max: number;
}

interface RuleSummary {
  rule: Rule;
  cells: number;
  /** Cells whose page the rule's protocol does not load; there the browser's own choice counts, else HTTP/2 after a wait. */
  fallbacks: number;
  /** Median over that of the cell's best protocol, less 1. */
  regret: Regret | null;
  /** Regret on random halves of the loads, averaged; comparable with the noise floor. */
  halfRegret: number | null;
}

/** Summary over all cells of one view. */
export interface ViewSummary {
  cells: number;
  /**
   * By forced protocol: how often it is the fastest, how often by more than 5%, how often that is decided, and by how much in
   * the median.
   */
  wins: Record<Protocol, { cells: number; clear: number; decided: number; medianMargin: number | null }>;
  rules: RuleSummary[];
  /** Regret, on random halves of a cell's loads, of an oracle that chose by the other halves. */
  noiseFloor: { cells: number; regret: Regret | null };
  /** Coefficients of variation of the series on networks without loss and with open UDP. */
  quietSpread: { series: number; median: number | null; p90: number | null; max: number | null };
}

/** `summary.json`. */
export interface GroundTruthSummary {
  format: 'hopwise-ground-truth-summary';
  version: 1;
  cells: CellSummary[];
  loads: {
    kept: number;
    /** Loads used for the figures. */
    judging: number;
    /** Loads among those without a load event in time, and without any answer. */
    timeouts: number;
    unreachable: number;
    leftOut: LeftOut;
    /** Disturbed loads that were dropped and repeated. */
    dropped: number;
    /** Failed tries that were repeated, under other losses. */
    failures: number;
  };
  views: Partial<Record<View, ViewSummary>>;
}

export function summarise(matrix: GroundTruthMatrix, loads: Iterable<GroundTruthLoad>): GroundTruthSummary {
  const all = [...loads];
  const judged = judgeLoads(all, matrix.networks);
  const cells = inOrder(matrix, judged.cells).map(
    (cell): JudgedCell => ({ cell, groundTruth: groundTruthOf(cell), halves: halvesOf(cell.seeds) }),
  );
  const failures = judged.cells
    .flatMap(({ sound }) => sound)
    .flatMap(({ outcome }) => (outcome.ok ? [] : outcome.kind));
  const views: GroundTruthSummary['views'] = {};
  for (const view of matrix.views) {
    const own = cells.filter(({ cell }) => cell.view === view);
    if (own.length > 0) views[view] = summariseView(own, matrix);
  }
  return {
    format: 'hopwise-ground-truth-summary',
    version: 1,
    cells: cells.map(summariseCell),
    loads: {
      kept: all.length,
      judging: judged.judging,
      timeouts: failures.filter((kind) => kind === 'timeout').length,
      unreachable: failures.filter((kind) => kind === 'unreachable').length,
      leftOut: judged.leftOut,
      dropped: all.reduce((sum, { repeated }) => sum + repeated, 0),
      failures: all.reduce((sum, { failures = 0 }) => sum + failures, 0),
    },
    views,
  };
}

interface JudgedCell {
  cell: CellLoads;
  /** Null where fewer than two forced protocols load the page. */
  groundTruth: CellGroundTruth | null;
  halves: Halves[];
}

/** Sorted in the matrix's order of pages, networks and views. */
function inOrder<T extends CellLoads>(matrix: GroundTruthMatrix, cells: readonly T[]): T[] {
  const pages = Object.keys(matrix.pages);
  const networks = Object.keys(matrix.networks);
  return cells.toSorted(
    (a, b) =>
      pages.indexOf(a.page) - pages.indexOf(b.page) ||
      networks.indexOf(a.network) - networks.indexOf(b.network) ||
      matrix.views.indexOf(a.view) - matrix.views.indexOf(b.view),
  );
}

function summariseCell({ cell, groundTruth }: JudgedCell): CellSummary {
  const { page, network, view, seeds, pltMs, assigned, missing } = cell;
  const series = new Map<LoadProtocol, BySeed>(pltMs);
  // The lab measures one assignment for each cell.
  const [first] = assigned;
  if (first !== undefined) series.set('assigned', first.pltMs);
  const protocols: CellSummary['protocols'] = {};
  const unavailable = Object.fromEntries(missing) as CellSummary['unavailable'];
  for (const [protocol, bySeed] of series) {
    const own = summariseSeries(bySeed);
    if (own === null) {
      unavailable[protocol] = { kind: 'timeout', reason: 'no load event in time in most loads' };
      continue;
    }
    const overBest = groundTruth === null ? null : pairedRatio(bySeed, pltMs.get(groundTruth.best), seeds);
    protocols[protocol] = { ...own, overBest: finite(overBest) };
  }
  return {
    page,
    network,
    view,
    seeds: seeds.length,
    protocols,
    unavailable,
    best: groundTruth?.best ?? null,
    margin: groundTruth?.lead ?? null,
    agreement: groundTruth?.agreement ?? null,
    clear: groundTruth?.clear ?? false,
    decided: groundTruth?.decided ?? false,
  };
}

/** Null where most loads timed out. */
function summariseSeries(bySeed: BySeed): Omit<SeriesSummary, 'overBest'> | null {
  const times = [...bySeed.values()];
  const { median: medianMs, low: lowMs, high: highMs } = spread(times);
  if (!Number.isFinite(medianMs)) return null;
  const interval = bootstrapMedian(times);
  return {
    loads: times.length,
    timeouts: times.filter((time) => !Number.isFinite(time)).length,
    medianMs,
    lowMs,
    highMs: finite(highMs),
    medianLowMs: interval.low,
    medianHighMs: finite(interval.high),
    cv: coefficientOfVariation(times),
  };
}

function summariseView(cells: readonly JudgedCell[], matrix: GroundTruthMatrix): ViewSummary {
  const comparable = cells.filter(({ groundTruth }) => groundTruth !== null);
  const noise = comparable.flatMap(({ cell, halves }) => noiseOf(cell, halves) ?? []);
  return {
    cells: cells.length,
    wins: winsOf(cells.flatMap(({ groundTruth }) => groundTruth ?? [])),
    rules: RULES.map((rule) => judgeRule(rule, comparable, matrix)),
    noiseFloor: { cells: noise.length, regret: regretOver(noise) },
    quietSpread: quietSpreadOf(cells, matrix),
  };
}

function winsOf(truths: readonly CellGroundTruth[]): ViewSummary['wins'] {
  const of = (protocol: Protocol) => {
    const won = truths.filter(({ best }) => best === protocol);
    return {
      cells: won.length,
      clear: won.filter(({ clear }) => clear).length,
      decided: won.filter(({ decided }) => decided).length,
      medianMargin: won.length > 0 ? median(won.map(({ lead }) => lead)) : null,
    };
  };
  return { h1: of('h1'), h2: of('h2'), h3: of('h3') };
}

function judgeRule(rule: Rule, cells: readonly JudgedCell[], { networks }: GroundTruthMatrix): RuleSummary {
  const regrets: number[] = [];
  const halfRegrets: number[] = [];
  let fallbacks = 0;
  for (const { cell, halves } of cells) {
    const network = networks[cell.network]?.network;
    if (network === undefined) continue;
    const choice = ruleChoice(rule, network);
    const regret = isTried(cell, choice) ? regretOf(cell, choice) : null;
    if (regret === null) continue;
    regrets.push(regret);
    if (doesNotLoad(cell, choice)) fallbacks++;
    const onHalf = halfRegretOf(cell, choice, halves);
    if (onHalf !== null) halfRegrets.push(onHalf);
  }
  return {
    rule,
    cells: regrets.length,
    fallbacks,
    regret: regretOver(regrets),
    halfRegret: meanOrNull(halfRegrets),
  };
}

function quietSpreadOf(
  cells: readonly JudgedCell[],
  { networks }: GroundTruthMatrix,
): ViewSummary['quietSpread'] {
  const cvs = cells
    .filter(({ cell }) => {
      const network = networks[cell.network]?.network;
      return network !== undefined && network.loss === 0 && isUdpFree(network);
    })
    .flatMap(({ cell }) => [...cell.pltMs.values()])
    .flatMap((bySeed) => coefficientOfVariation([...bySeed.values()]) ?? []);
  return {
    series: cvs.length,
    median: medianOrNull(cvs),
    p90: cvs.length > 0 ? quantile(cvs, 0.9) : null,
    max: cvs.length > 0 ? Math.max(...cvs) : null,
  };
}

function regretOver(regrets: number[]): Regret | null {
  if (regrets.length === 0) return null;
  return {
    mean: mean(regrets),
    median: median(regrets),
    p95: quantile(regrets, 0.95),
    max: Math.max(...regrets),
  };
}

const finite = (value: number | null): number | null =>
  value !== null && Number.isFinite(value) ? value : null;
