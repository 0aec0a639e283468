/** Compares predicted flows with measured ones. */
import { median } from '@hopwise/contract';
import { type Spread, spread } from '@hopwise/lab/statistics';
import type { FlowCell, FlowSender } from './grid.ts';
import { predictFlow } from './predict-flow.ts';
import type { FlowsFile } from './store.ts';

/** Emulated runs of a lossy flow: enough for a stable median. */
const PREDICTED_SEEDS = Array.from({ length: 61 }, (_, index) => 1_000 + index);

/** Times are milliseconds from the request to the response's last byte; errors fractions of what was measured. */
export interface FlowScore {
  cell: FlowCell;
  measured: Spread;
  flows: number;
  predicted: Spread;
  /** Predicted over measured median, minus 1. */
  error: number;
  /** That error with the handshake in both. */
  totalError: number;
  /** Distance between the medians of every other flow and of the rest: an upper bound for the error of measuring again. */
  noise: number | null;
}

/** Every cell with undisturbed flows. */
export function scoreFlows(cells: readonly FlowCell[], file: FlowsFile): FlowScore[] {
  return cells.flatMap((cell) => {
    const flows = (file.cells[cell.id]?.flows ?? []).filter(({ disturbed }) => disturbed.length === 0);
    if (flows.length === 0) return [];
    const times = flows
      .sort((a, b) => a.seed - b.seed)
      .map(({ sentMs, totalMs, unfinished }) => (unfinished ? Number.POSITIVE_INFINITY : totalMs - sentMs));
    // More than half of its flows never ended, so there is no median to compare with.
    if (!Number.isFinite(median(times))) return [];
    const guess = predictFlow(cell, cell.network.loss === 0 ? [1] : PREDICTED_SEEDS);
    const measured = spread(times);
    const predicted = spread(guess.transferMs);
    const total = median(flows.map(({ totalMs }) => totalMs));
    return [
      {
        cell,
        measured,
        flows: flows.length,
        predicted,
        error: predicted.median / measured.median - 1,
        totalError: median(guess.totalMs) / total - 1,
        noise: noiseOf(times),
      },
    ];
  });
}

function noiseOf(times: readonly number[]): number | null {
  if (times.length < 2) return null;
  const [odd, even] = [1, 0].map((rest) => median(times.filter((_, index) => index % 2 === rest)));
  return Math.abs(odd! / even! - 1);
}

export interface Summary {
  cells: number;
  /** Medians over cells: of the absolute error, of the error with its sign, with the handshake, and of the noise. */
  error: number;
  bias: number;
  totalError: number;
  noise: number;
}

/** @returns null without cells */
export function summarise(scores: readonly FlowScore[]): Summary | null {
  if (scores.length === 0) return null;
  return {
    cells: scores.length,
    error: median(scores.map(({ error }) => Math.abs(error))),
    bias: median(scores.map(({ error }) => error)),
    totalError: median(scores.map(({ totalError }) => Math.abs(totalError))),
    noise: median(scores.map(({ noise }) => noise ?? 0)),
  };
}

/** Summary of the cells of one sender, one loss, both or neither. */
export function summaryOf(
  scores: readonly FlowScore[],
  sender: FlowSender | null,
  loss: number | null,
): Summary | null {
  return summarise(
    scores.filter(
      ({ cell }) =>
        (sender === null || cell.sender === sender) && (loss === null || cell.network.loss === loss),
    ),
  );
}
