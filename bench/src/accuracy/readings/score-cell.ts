/** Judges what is read out of each recording of a cell. */
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import {
  type KnownNetwork,
  type NetworkPath,
  PROTOCOLS,
  type Prediction,
  type Protocol,
  predict,
} from '@hopwise/pageload-emulator';
import { mediansAt } from '../../judge/cell-ground-truth.ts';
import { regretOf } from '../../judge/regret.ts';
import { isTried } from '../../judge/rules.ts';
import { choiceOf } from '../choosers.ts';
import { type GraphScore, scoreGraph } from './known-graph.ts';
import type { MeasuredCell, RecordedLoad } from './measured-cell.ts';

/** What is known besides the recording. */
export const MODES = ['given', 'udp', 'estimated'] as const;
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
  ranges: Record<Mode, Held>;
  /** Regret of the choice; null where it cannot be judged. */
  regret: Record<Mode, number | null>;
  /** Whether the network's true figures lie within the ranges that are stated from the recording alone. */
  figures: Partial<Record<NetworkFigureName, boolean>>;
  /** The recorded load predicted again, for a load without random loss. */
  reproduced: Reproduced | null;
  /** Null where the page is not known. */
  graph: GraphScore | null;
  /** Predicted times on `THIRD_NETWORK`. */
  onThirdMs: Partial<Record<Protocol, number>>;
}

export interface Held {
  loads: number;
  within: number;
}

export type NetworkFigureName = 'rttMs' | 'downMbps' | 'loss';
export const FIGURE_NAMES: readonly NetworkFigureName[] = ['rttMs', 'downMbps', 'loss'];

export interface Reproduced {
  /** Predicted over recorded PLT, less 1. */
  error: number;
  requests: number;
  /** Requests whose start, and whose first byte, is within 10% or 30 ms. */
  starts: number;
  firstBytes: number;
}

const CLOSE_SHARE = 0.1;
const CLOSE_MS = 30;

/** Recordings of one page on different networks should give the same prediction for it: the lab's `cable`. */
export const THIRD_NETWORK: NetworkPath = {
  rttMs: 28,
  downBps: 40e6,
  upBps: 8e6,
  loss: 0,
  lossBurst: 1,
  queueBytes: 750_000,
  udp: { kind: 'open' },
};

export function scoreReading(cell: MeasuredCell, load: RecordedLoad): ReadingScore {
  const { page, network, path } = cell;
  const known: Record<Mode, KnownNetwork> = { given: path, udp: { udp: path.udp }, estimated: {} };
  const judgedBy = cell.loads.seeds.filter((seed) => load.protocol === 'natural' || seed !== load.seed);
  const measured = mediansAt(cell.loads, judgedBy);
  const score: ReadingScore = {
    page,
    network,
    from: load.protocol,
    udp: path.udp.kind,
    errors: { given: {}, udp: {}, estimated: {} },
    ranges: { given: noneHeld(), udp: noneHeld(), estimated: noneHeld() },
    regret: { given: null, udp: null, estimated: null },
    figures: {},
    reproduced: null,
    graph: cell.known && scoreGraph(load.recording, cell.known),
    onThirdMs: timesOf(predict(load.recording, { network: THIRD_NETWORK })),
  };
  const tried = PROTOCOLS.filter((protocol) => isTried(cell.loads, protocol));
  for (const mode of MODES) {
    const prediction = predict(load.recording, { network: known[mode], waterfall: mode === 'given' });
    const pltMs = timesOf(prediction);
    for (const protocol of PROTOCOLS) {
      const time = prediction.protocols[protocol];
      const real = measured[protocol];
      if ('unavailable' in time || real === undefined) continue;
      score.errors[mode][protocol] = time.pltMs / real - 1;
      const times = judgedBy.flatMap((seed) => cell.loads.pltMs.get(protocol)?.get(seed) ?? []);
      score.ranges[mode].loads += times.length;
      score.ranges[mode].within += times.filter((each) => each >= time.low && each <= time.high).length;
    }
    const choice = choiceOf({ best: prediction.best, pltMs }, tried);
    if (choice !== null) score.regret[mode] = regretOf(cell.loads, choice, judgedBy);
    if (mode === 'given') score.reproduced = reproducedBy(prediction, load, path);
    if (mode === 'estimated') score.figures = figuresHeld(prediction, path);
  }
  return score;
}

const noneHeld = (): Held => ({ loads: 0, within: 0 });

function timesOf({ protocols }: Prediction): Partial<Record<Protocol, number>> {
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
  const own = prediction.protocols[protocol];
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
