/** Compares what probes measured with what the link did. */

import type { UdpVerdict } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import type { ProbeCell } from './draw-cells.ts';

/** A figure as the prediction has it after the probe. */
interface Estimate {
  median: number;
  /** 10th and 90th percentile. */
  low: number;
  high: number;
}

export interface ProbeComparison {
  cell: ProbeCell;
  /** Share of the downstream packets, TCP and UDP, that the link lost at random, and that its queue dropped. */
  link: { loss: number; queueDrops: number };
  /** Null where the probe counted too few packets. */
  counted: { packets: number; events: number; lost: number } | null;
  loss: Estimate;
  lossBurst: Estimate;
  udp: UdpVerdict;
}

/** A summary over the cells with one loss. */
interface LossRow {
  loss: number;
  cells: number;
  /** Lost packets over all packets of the cells together, as counted. */
  counted: number | null;
  /** Share of the cells whose figure is within a factor of 1.5 of the true one; null where that is 0. */
  countedWithin: number | null;
  lossWithin: number | null;
  burstWithin: number | null;
  /** Share of the cells whose 80% interval holds the true figure. */
  lossCovered: number;
  burstCovered: number | null;
}

const FACTOR = 1.5;
/** A range that begins below this holds a loss of 0, which no prior can reach. */
const MIN_LOSS = 0.0005;

/** A row for each loss, ascending. */
export function lossRows(comparisons: readonly ProbeComparison[]): LossRow[] {
  const losses = [...new Set(comparisons.map(({ cell }) => cell.network.loss))].sort((a, b) => a - b);
  return losses.map((loss) => {
    const own = comparisons.filter(({ cell }) => cell.network.loss === loss);
    const counts = own.flatMap(({ counted }) => counted ?? []);
    const packets = counts.reduce((sum, one) => sum + one.packets, 0);
    const lost = counts.reduce((sum, one) => sum + one.lost, 0);
    const covers = ({ low, high }: Estimate, truth: number) =>
      low <= Math.max(truth, MIN_LOSS) && high >= truth;
    const share = (of: (one: ProbeComparison) => boolean) => own.filter(of).length / own.length;
    const lossy = (of: (one: ProbeComparison) => boolean) => (loss > 0 ? share(of) : null);
    return {
      loss,
      cells: own.length,
      counted: packets > 0 ? lost / packets : null,
      countedWithin: lossy(
        ({ counted }) => counted !== null && isWithin(counted.lost / counted.packets, loss),
      ),
      lossWithin: lossy((one) => isWithin(one.loss.median, loss)),
      burstWithin: lossy(({ cell, lossBurst }) => isWithin(lossBurst.median, cell.network.lossBurst)),
      lossCovered: share((one) => covers(one.loss, loss)),
      burstCovered: lossy(({ cell, lossBurst }) => covers(lossBurst, cell.network.lossBurst)),
    };
  });
}

function isWithin(value: number, truth: number): boolean {
  return value >= truth / FACTOR && value <= truth * FACTOR;
}

/** Tables for a terminal: the cells, then the summary by loss. */
export function renderComparisons(comparisons: readonly ProbeComparison[]): string {
  const cells = [
    [
      'cell',
      'Mbit/s',
      'RTT',
      'UDP',
      'loss',
      'link lost',
      'queue',
      'counted',
      'estimate (80%)',
      'burst',
      'counted',
      'estimate (80%)',
      'UDP verdict',
      'rate',
    ],
    ...comparisons.map(({ cell: { name, udp, network }, link, counted, loss, lossBurst, udp: verdict }) => [
      name,
      String(network.downMbps),
      String(network.rttMs),
      udp,
      percent(network.loss),
      percent(link.loss),
      percent(link.queueDrops),
      counted ? percent(counted.lost / counted.packets) : '–',
      `${percent(loss.median)} (${percent(loss.low)} to ${percent(loss.high)})`,
      network.loss > 0 ? String(network.lossBurst) : '–',
      counted && counted.events > 0 ? (counted.lost / counted.events).toFixed(1) : '–',
      `${lossBurst.median.toFixed(1)} (${lossBurst.low.toFixed(1)} to ${lossBurst.high.toFixed(1)})`,
      verdict.verdict,
      typeof network.udp === 'object' && verdict.quicBps !== null
        ? `${Math.round((100 * verdict.quicBps) / (1e6 * network.udp.policedMbps))}%`
        : '–',
    ]),
  ];
  const summary = [
    [
      'loss',
      'cells',
      'counted',
      'counted ×1.5',
      'estimate ×1.5',
      'burst ×1.5',
      'loss in 80%',
      'burst in 80%',
    ],
    ...lossRows(comparisons).map((row) => [
      percent(row.loss),
      String(row.cells),
      row.counted === null ? '–' : percent(row.counted),
      ...[row.countedWithin, row.lossWithin, row.burstWithin, row.lossCovered, row.burstCovered].map(
        (share) => (share === null ? '–' : `${Math.round(100 * share)}%`),
      ),
    ]),
  ];
  return `${table(cells)}\n\n${table(summary)}\n`;
}

const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;
