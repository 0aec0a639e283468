/** What the loads of a folder show: the fastest protocol of each cell, and how simple rules of choice would fare. */
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { mean, quantile } from 'simple-statistics';
import { Random } from '../pages/random.ts';
import type { GroundTruthLoad, GroundTruthMatrix, LoadProtocol, View } from './ground-truth.ts';
import { bootstrapMedian, coefficientOfVariation, median, spread } from './stats.ts';

/** Loads of one protocol in a cell. Milliseconds. */
export interface SeriesSummary {
  /** Loads that the figures are made of: those that came to their load event on a quiet machine. */
  loads: number;
  medianMs: number;
  /** Extremes, or 10th and 90th percentile from ten loads on. */
  lowMs: number;
  highMs: number;
  /** 95% bootstrap interval of the median. */
  medianLowMs: number;
  medianHighMs: number;
  /** Standard deviation over mean; null for one load. */
  cv: number | null;
}

export interface Unavailable {
  kind: 'unreachable' | 'timeout' | 'browser' | 'disturbed';
  reason: string;
}

export interface CellSummary {
  page: string;
  network: string;
  view: View;
  protocols: Partial<Record<LoadProtocol, SeriesSummary>>;
  /** Why there are no figures of a protocol that was tried. */
  unavailable: Partial<Record<LoadProtocol, Unavailable>>;
  /** The forced protocol with the least median; null where fewer than two were measured. */
  best: Protocol | null;
  /** What `best` saves of the next one's time, as a fraction. */
  margin: number | null;
  /** Share of bootstraps in which `best` has the least median. */
  agreement: number | null;
  decided: boolean;
}

export interface Regret {
  mean: number;
  median: number;
  p95: number;
  max: number;
}

export interface RuleSummary {
  rule: string;
  /** What one has to know to follow it. */
  knows: string;
  cells: number;
  /** Cells whose page the rule's protocol cannot reach; the browser's own choice, else HTTP/2, is taken there. */
  fallbacks: number;
  /** Median over that of the cell's best protocol, less 1. */
  regret: Regret | null;
}

/** `summary.json`. */
export interface GroundTruthSummary {
  format: 'hopwise-ground-truth-summary';
  version: 1;
  cells: CellSummary[];
  loads: {
    kept: number;
    failed: number;
    /** Disturbed loads that were dropped and made again. */
    dropped: number;
    /** Kept although disturbed; in no figure. */
    disturbed: number;
    /** Loads with a request that was not proved to be on its protocol. */
    unproved: number;
    /** Loads with a request that failed. */
    incomplete: number;
  };
  /** By forced protocol: how often it is the fastest, how often that is decided, and by how much in the median. */
  wins: Record<Protocol, { cells: number; decided: number; medianMargin: number | null }>;
  rules: RuleSummary[];
  /** Regret of choosing by half of a cell's loads what the other half then judges: what no choice gets below. */
  noiseFloor: { cells: number; regret: Regret | null };
  /** Coefficients of variation of the series on networks that lose nothing and let UDP through. */
  quietSpread: { series: number; median: number | null; p90: number | null; max: number | null };
}

const BOOTSTRAPS = 1000;
const DECIDED_FROM = 0.9;
const SPLITS = 200;
/** Loads of each protocol from which halves can be compared. */
const SPLIT_FROM = 4;
const SEED = 1;

export function summarise(matrix: GroundTruthMatrix, loads: Iterable<GroundTruthLoad>): GroundTruthSummary {
  const counts = { kept: 0, failed: 0, dropped: 0, disturbed: 0, unproved: 0, incomplete: 0 };
  const cells = new Map<string, Cell>();
  for (const load of loads) {
    counts.kept++;
    counts.dropped += load.repeated;
    const key = JSON.stringify([load.page, load.network, load.view]);
    const cell = cells.get(key) ?? newCell(load);
    cells.set(key, cell);
    const { outcome, protocol } = load;
    if (!outcome.ok) {
      counts.failed++;
      cell.failures[protocol] = { kind: outcome.kind, reason: outcome.reason };
      continue;
    }
    if (!outcome.proved) counts.unproved++;
    if (outcome.failed.length > 0) counts.incomplete++;
    if (load.disturbed) {
      counts.disturbed++;
      cell.failures[protocol] ??= {
        kind: 'disturbed',
        reason: 'other work on the machine disturbed every load',
      };
    } else cell.times[protocol] = [...(cell.times[protocol] ?? []), outcome.pltMs];
  }
  const random = new Random(SEED);
  const ordered = inOrder(matrix, [...cells.values()]);
  const summaries = ordered.map((cell) => summariseCell(cell, random));
  return {
    format: 'hopwise-ground-truth-summary',
    version: 1,
    cells: summaries,
    loads: counts,
    wins: winsOf(summaries),
    rules: RULES.map((rule) => judge(rule, summaries, matrix)),
    noiseFloor: noiseFloorOf(ordered, random),
    quietSpread: quietSpreadOf(summaries, matrix),
  };
}

interface Cell {
  page: string;
  network: string;
  view: View;
  times: Partial<Record<LoadProtocol, number[]>>;
  failures: CellSummary['unavailable'];
}

const newCell = ({ page, network, view }: GroundTruthLoad): Cell => ({
  page,
  network,
  view,
  times: {},
  failures: {},
});

/** As the matrix names pages, networks and views. */
function inOrder(matrix: GroundTruthMatrix, cells: Cell[]): Cell[] {
  const pages = Object.keys(matrix.pages);
  const networks = Object.keys(matrix.networks);
  return cells.sort(
    (a, b) =>
      pages.indexOf(a.page) - pages.indexOf(b.page) ||
      networks.indexOf(a.network) - networks.indexOf(b.network) ||
      matrix.views.indexOf(a.view) - matrix.views.indexOf(b.view),
  );
}

function summariseCell(cell: Cell, random: Random): CellSummary {
  const { page, network, view, times, failures } = cell;
  const protocols: CellSummary['protocols'] = {};
  for (const [protocol, values] of Object.entries(times) as [LoadProtocol, number[]][]) {
    const { median: medianMs, low: lowMs, high: highMs } = spread(values);
    const interval = bootstrapMedian(values);
    protocols[protocol] = {
      loads: values.length,
      medianMs,
      lowMs,
      highMs,
      medianLowMs: interval.low,
      medianHighMs: interval.high,
      cv: coefficientOfVariation(values),
    };
  }
  const unavailable = Object.fromEntries(
    Object.entries(failures).filter(([protocol]) => !(protocol in protocols)),
  );
  const ranked = PROTOCOLS.filter((protocol) => protocols[protocol]).sort(
    (a, b) => protocols[a]!.medianMs - protocols[b]!.medianMs,
  );
  const [best, next] = ranked;
  if (best === undefined || next === undefined) {
    return {
      page,
      network,
      view,
      protocols,
      unavailable,
      best: null,
      margin: null,
      agreement: null,
      decided: false,
    };
  }
  const agreement = agreementOn(
    best,
    ranked.map((protocol) => [protocol, times[protocol]!]),
    random,
  );
  // Two loads of each are no evidence, however well their bootstraps agree.
  const enough = ranked.every((protocol) => protocols[protocol]!.loads >= 3);
  return {
    page,
    network,
    view,
    protocols,
    unavailable,
    best,
    margin: 1 - protocols[best]!.medianMs / protocols[next]!.medianMs,
    agreement,
    decided: enough && agreement >= DECIDED_FROM,
  };
}

/** In what share of bootstraps a protocol has the least median. */
function agreementOn(best: Protocol, series: [Protocol, number[]][], random: Random): number {
  let agreeing = 0;
  for (let index = 0; index < BOOTSTRAPS; index++) {
    const medians = series.map(([, values]) => median(values.map(() => random.pick(values))));
    if (series[leastIndex(medians)]![0] === best) agreeing++;
  }
  return agreeing / BOOTSTRAPS;
}

function winsOf(cells: CellSummary[]): GroundTruthSummary['wins'] {
  const of = (protocol: Protocol) => {
    const won = cells.filter(({ best }) => best === protocol);
    return {
      cells: won.length,
      decided: won.filter(({ decided }) => decided).length,
      medianMargin: won.length > 0 ? median(won.map(({ margin }) => margin as number)) : null,
    };
  };
  return { h1: of('h1'), h2: of('h2'), h3: of('h3') };
}

interface Rule {
  rule: string;
  knows: string;
  choose(network: GroundTruthMatrix['networks'][string]['network']): Protocol | 'natural';
}

const RULES: Rule[] = [
  { rule: 'always HTTP/1.1', knows: 'nothing', choose: () => 'h1' },
  { rule: 'always HTTP/2', knows: 'nothing', choose: () => 'h2' },
  { rule: 'always HTTP/3', knows: 'nothing', choose: () => 'h3' },
  {
    rule: "the browser's own choice",
    knows: 'Alt-Svc, from the first answer of an origin on',
    choose: () => 'natural',
  },
  {
    rule: 'HTTP/3 unless UDP is policed or blocked, then HTTP/2',
    knows: "the network's treatment of UDP, without an error",
    choose: ({ udp, udpLoss }) => (udp === 'open' && (udpLoss ?? 0) === 0 ? 'h3' : 'h2'),
  },
];

function judge(
  { rule, knows, choose }: Rule,
  cells: CellSummary[],
  { networks }: GroundTruthMatrix,
): RuleSummary {
  const regrets: number[] = [];
  let fallbacks = 0;
  for (const { network, protocols, unavailable, best } of cells) {
    const profile = networks[network]?.network;
    if (best === null || profile === undefined) continue;
    const chosen = choose(profile);
    const own = protocols[chosen];
    const taken =
      own ?? (isUnreachable(unavailable[chosen]) ? (protocols.natural ?? protocols.h2) : undefined);
    if (!taken) continue;
    if (!own) fallbacks++;
    regrets.push(taken.medianMs / protocols[best]!.medianMs - 1);
  }
  return { rule, knows, cells: regrets.length, fallbacks, regret: regretOf(regrets) };
}

const isUnreachable = (why: Unavailable | undefined): boolean =>
  why !== undefined && why.kind !== 'disturbed';

function noiseFloorOf(cells: Cell[], random: Random): GroundTruthSummary['noiseFloor'] {
  const regrets: number[] = [];
  for (const { times } of cells) {
    const series = PROTOCOLS.map((protocol) => times[protocol] ?? []).filter((values) => values.length > 0);
    if (series.length < 2 || series.some((values) => values.length < SPLIT_FROM)) continue;
    let sum = 0;
    for (let split = 0; split < SPLITS; split++) {
      const halves = series.map((values) => halve(values, random));
      const chosen = leastIndex(halves.map(([seen]) => seen));
      const judged = halves.map(([, unseen]) => unseen);
      sum += judged[chosen]! / Math.min(...judged) - 1;
    }
    regrets.push(sum / SPLITS);
  }
  return { cells: regrets.length, regret: regretOf(regrets) };
}

/** Medians of two random halves. */
function halve(values: readonly number[], random: Random): [number, number] {
  const shuffled = random.shuffle(values);
  const middle = Math.floor(shuffled.length / 2);
  return [median(shuffled.slice(0, middle)), median(shuffled.slice(middle))];
}

const leastIndex = (values: readonly number[]): number => values.indexOf(Math.min(...values));

function quietSpreadOf(
  cells: CellSummary[],
  { networks }: GroundTruthMatrix,
): GroundTruthSummary['quietSpread'] {
  const cvs = cells
    .filter(({ network }) => {
      const figures = networks[network]?.network;
      return figures?.loss === 0 && figures.udp === 'open' && !figures.udpLoss;
    })
    .flatMap(({ protocols }) => Object.values(protocols).map(({ cv }) => cv))
    .filter((cv) => cv !== null);
  return {
    series: cvs.length,
    median: cvs.length > 0 ? median(cvs) : null,
    p90: cvs.length > 0 ? quantile(cvs, 0.9) : null,
    max: cvs.length > 0 ? Math.max(...cvs) : null,
  };
}

function regretOf(regrets: number[]): Regret | null {
  if (regrets.length === 0) return null;
  return {
    mean: mean(regrets),
    median: median(regrets),
    p95: quantile(regrets, 0.95),
    max: Math.max(...regrets),
  };
}
