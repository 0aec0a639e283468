/** Judges what is read out of each recording of a cell. */

import { mediansAt } from '@hopwise/lab/judge/cell-ground-truth';
import { regretOf } from '@hopwise/lab/judge/regret';
import { isTried, ruleChoice } from '@hopwise/lab/judge/rules';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import {
  type KnownNetwork,
  type NetworkPath,
  namedPath,
  PROTOCOLS,
  type Prediction,
  type Protocol,
  predict,
  type Recording,
} from '@hopwise/pageload-emulator';
import { choiceOf } from '../choosers.ts';
import { type GraphScore, scoreGraph } from './known-graph.ts';
import type { MeasuredCell, RecordedLoad } from './measured-cell.ts';
import { regretOnOne } from './noise.ts';
import { RECORDERS, type Recorder, writtenBy } from './recorders.ts';
import { dependenciesOf, likeness } from './same-reading.ts';
import { emulateTrue, type TruePage, truePage } from './true-graph.ts';

/** What is known besides the recording. */
export const PREDICTION_MODES = ['given', 'udp', 'estimated'] as const;
/** `true` is the emulator alone: network, graph, server times and servers as they are. */
export const MODES = ['true', ...PREDICTION_MODES] as const;
export type PredictionMode = (typeof PREDICTION_MODES)[number];
export type Mode = (typeof MODES)[number];

/** Scores of one recording. */
export interface ReadingScore {
  page: string;
  network: string;
  /** Protocol of the recorded load. */
  from: ProtocolMode;
  /** How the network treats UDP. */
  udp: NetworkPath['udp']['kind'];
  /** By mode and predicted protocol: predicted over measured median of the other seeds, less 1. */
  errors: Record<Mode, Partial<Record<Protocol, number>>>;
  /** Measured loads with a stated range, and those within it. */
  ranges: Record<PredictionMode, Coverage>;
  /** Regret of the choice; null where it cannot be judged. */
  regret: Record<Mode, JudgedRegret | null>;
  /** The decision's regret, in which experience of other pages counts too. */
  decisionRegret: Record<PredictionMode, JudgedRegret | null>;
  /** Regret of HTTP/3 unless UDP is hindered, on the same seeds: without the recorded one, fewer seeds scatter more for every choice. */
  ruleRegret: JudgedRegret | null;
  /** Whether the network's true figures lie within the ranges that are stated from the recording alone. */
  figures: Partial<Record<NetworkFigureName, boolean>>;
  /** The recorded load predicted again, for a load without random loss. */
  reproduced: Reproduced | null;
  /** Null where the page is not known. */
  graph: GraphScore | null;
  /** By other recorders of the load: likeness of the dependencies, and whether all times on `THIRD_NETWORK` agree within 2%. */
  recorders: Partial<Record<Recorder, { likeness: number; agrees: boolean }>>;
  /** Predicted times on `THIRD_NETWORK`. */
  onThirdMs: Partial<Record<Protocol, number>>;
}

export interface JudgedRegret {
  /** By the medians over all seeds. */
  overall: number;
  /** Mean over single seeds; see `floorOf`. */
  perSeed: number;
}

/** Null where the loads cannot judge the choice. */
export function judgedRegret(
  loads: MeasuredCell['loads'],
  choice: ProtocolMode,
  seeds: readonly number[] = loads.seeds,
): JudgedRegret | null {
  const overall = regretOf(loads, choice, seeds);
  const perSeed = regretOnOne(loads, choice, seeds);
  return overall === null || perSeed === null ? null : { overall, perSeed };
}

interface Coverage {
  loads: number;
  within: number;
}

export type NetworkFigureName = 'rttMs' | 'downMbps' | 'loss';
export const FIGURE_NAMES: readonly NetworkFigureName[] = ['rttMs', 'downMbps', 'loss'];

interface Reproduced {
  /** Predicted over recorded PLT, less 1. */
  error: number;
  requests: number;
  /** Requests whose start, and whose first byte, is within 10% or 30 ms. */
  starts: number;
  firstBytes: number;
}

const CLOSE_SHARE = 0.1;
const CLOSE_MS = 30;

/** Two recordings of one load are read alike when predictions differ by less. */
const SAME_SHARE = 0.02;

/** Recordings of one page on different networks should give the same prediction for it. */
const THIRD_NETWORK = namedPath('cable');

export function scoreReading(cell: MeasuredCell, load: RecordedLoad): ReadingScore {
  const { page, network, path } = cell;
  const known: Record<PredictionMode, KnownNetwork> = { given: path, udp: { udp: path.udp }, estimated: {} };
  const judgingSeeds = cell.loads.seeds.filter((seed) => load.protocol === 'natural' || seed !== load.seed);
  const measured = mediansAt(cell.loads, judgingSeeds);
  const onThirdMs = timesOf(predict(load.recording, { network: THIRD_NETWORK }));
  const score: ReadingScore = {
    page,
    network,
    from: load.protocol,
    udp: path.udp.kind,
    errors: { true: {}, given: {}, udp: {}, estimated: {} },
    ranges: { given: noneHeld(), udp: noneHeld(), estimated: noneHeld() },
    regret: { true: null, given: null, udp: null, estimated: null },
    decisionRegret: { given: null, udp: null, estimated: null },
    ruleRegret: null,
    figures: {},
    reproduced: null,
    graph: cell.known && scoreGraph(load.recording, cell.known),
    recorders: {},
    onThirdMs,
  };
  for (const recorder of RECORDERS)
    score.recorders[recorder] = compareRecorder(recorder, load.recording, onThirdMs);
  const tried = PROTOCOLS.filter((protocol) => isTried(cell.loads, protocol));
  const regretFor = (best: Protocol, pltMs: Partial<Record<Protocol, number>>): JudgedRegret | null => {
    const choice = choiceOf({ best, pltMs }, tried);
    return choice && judgedRegret(cell.loads, choice, judgingSeeds);
  };
  const rule = ruleChoice('h3UnlessHindered', cell.link);
  if (isTried(cell.loads, rule)) score.ruleRegret = judgedRegret(cell.loads, rule, judgingSeeds);
  const judge = (mode: Mode, pltMs: Partial<Record<Protocol, number>>, best: Protocol): void => {
    for (const protocol of PROTOCOLS) {
      const [predicted, real] = [pltMs[protocol], measured[protocol]];
      if (predicted !== undefined && real !== undefined) score.errors[mode][protocol] = predicted / real - 1;
    }
    score.regret[mode] = regretFor(best, pltMs);
  };
  if (cell.known !== null) {
    const pltMs = emulatedTimes(truePage(load.recording, cell.known), path);
    judge('true', pltMs, fastestOf(pltMs));
  }
  for (const mode of PREDICTION_MODES) {
    const prediction = predict(load.recording, { network: known[mode], waterfall: mode === 'given' });
    const pltMs = timesOf(prediction);
    judge(mode, pltMs, prediction.emulated.best);
    score.decisionRegret[mode] = regretFor(prediction.decision.best, pltMs);
    for (const protocol of PROTOCOLS) {
      const time = prediction.emulated.protocols[protocol];
      if ('unavailable' in time || measured[protocol] === undefined) continue;
      const times = judgingSeeds.flatMap((seed) => cell.loads.pltMs.get(protocol)?.get(seed) ?? []);
      score.ranges[mode].loads += times.length;
      score.ranges[mode].within += times.filter((each) => each >= time.low && each <= time.high).length;
    }
    if (mode === 'given') score.reproduced = reproducedBy(prediction, load, path);
    if (mode === 'estimated') score.figures = figuresHeld(prediction, path);
  }
  return score;
}

function compareRecorder(
  recorder: Recorder,
  recording: Recording,
  onThirdMs: ReadingScore['onThirdMs'],
): { likeness: number; agrees: boolean } {
  const written = writtenBy(recorder, recording);
  const times = timesOf(predict(written, { network: THIRD_NETWORK }));
  return {
    likeness: likeness(dependenciesOf(recording), dependenciesOf(written)),
    agrees: PROTOCOLS.every((protocol) => {
      const [a, b] = [times[protocol] ?? 0, onThirdMs[protocol] ?? 0];
      return Math.abs(a - b) <= SAME_SHARE * b;
    }),
  };
}

function emulatedTimes(page: TruePage, path: NetworkPath): Partial<Record<Protocol, number>> {
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || path.udp.kind !== 'blocked');
  return Object.fromEntries(usable.map((protocol) => [protocol, emulateTrue(page, path, protocol)]));
}

const fastestOf = (pltMs: Partial<Record<Protocol, number>>): Protocol =>
  PROTOCOLS.reduce((best, protocol) =>
    (pltMs[protocol] ?? Infinity) < (pltMs[best] ?? Infinity) ? protocol : best,
  );

const noneHeld = (): Coverage => ({ loads: 0, within: 0 });

function timesOf({ emulated: { protocols } }: Prediction): Partial<Record<Protocol, number>> {
  const times: Partial<Record<Protocol, number>> = {};
  for (const protocol of PROTOCOLS) {
    const time = protocols[protocol];
    if (!('unavailable' in time)) times[protocol] = time.pltMs;
  }
  return times;
}

/** Null for a load with random loss or of the browser's own choice, which no single protocol stands for. */
function reproducedBy(
  prediction: Prediction,
  { protocol, recording, dropped }: RecordedLoad,
  { loss, udp }: NetworkPath,
): Reproduced | null {
  if (protocol === 'natural' || dropped > 0 || loss > 0 || udp.kind === 'lossy') return null;
  const own = prediction.emulated.protocols[protocol];
  if ('unavailable' in own || recording.pltMs === null) return null;
  const entries = (prediction.waterfall[protocol] ?? []).flatMap((entry) => {
    const request = recording.requests[entry.requestId];
    return request ? [{ entry, request }] : [];
  });
  return {
    error: own.pltMs / recording.pltMs - 1,
    requests: entries.length,
    starts: entries.filter(({ entry, request }) => isClose(entry.startMs, request.startMs)).length,
    firstBytes: entries.filter(({ entry, request: { phases } }) =>
      isClose(entry.firstByteMs, phases.responseStartMs ?? entry.firstByteMs),
    ).length,
  };
}

const isClose = (predictedMs: number, recordedMs: number): boolean =>
  Math.abs(predictedMs - recordedMs) <= Math.max(CLOSE_MS, CLOSE_SHARE * recordedMs);

function figuresHeld({ network: { ranges } }: Prediction, path: NetworkPath): ReadingScore['figures'] {
  const real: Record<NetworkFigureName, number> = {
    rttMs: path.rttMs,
    downMbps: path.downBps / 1e6,
    loss: path.loss,
  };
  return Object.fromEntries(
    FIGURE_NAMES.map((name) => [name, real[name] >= ranges[name].low && real[name] <= ranges[name].high]),
  );
}
