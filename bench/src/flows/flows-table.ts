import { FLOW_LOSSES, HALVES, SENDERS } from './grid.ts';
import { type FlowScore, type Summary, summaryOf } from './score.ts';

const TITLES = { tuning: 'Tuned on', judged: 'Never tuned on' };

/** Tables for a terminal: the cells, then the median error by sender and loss of each half. */
export function renderFlows(scores: readonly FlowScore[], cells: boolean): string {
  const lines: string[] = [];
  for (const half of HALVES) {
    const own = scores.filter(({ cell }) => cell.half === half);
    if (own.length === 0) continue;
    if (cells) lines.push(...own.map(cellLine), '');
    lines.push(
      `${TITLES[half]}: median error of the transfer time (its sign; what measuring again changes; cells)`,
      row('', [...FLOW_LOSSES.map((loss) => `${percent(loss)} loss`), 'all']),
      ...[...SENDERS, null].map((sender) =>
        row(
          sender ?? 'all',
          [...FLOW_LOSSES, null].map((loss) => figure(summaryOf(own, sender, loss))),
        ),
      ),
      `with the handshake: ${figure(withHandshake(summaryOf(own, null, null)))}`,
      '',
    );
  }
  return `${lines.join('\n')}\n`;
}

function withHandshake(summary: Summary | null): Summary | null {
  return summary && { ...summary, error: summary.totalError };
}

function cellLine({ cell, measured, predicted, flows, error }: FlowScore): string {
  const times = ({ median, low, high }: typeof measured) =>
    `${Math.round(median)} (${Math.round(low)} to ${Math.round(high)})`;
  return [
    cell.id.slice(cell.half.length + 1).padEnd(52),
    `measured ${times(measured)}`.padEnd(34),
    `predicted ${times(predicted)}`.padEnd(34),
    signed(error).padStart(7),
    `${flows} flows`,
  ].join(' ');
}

function figure(summary: Summary | null): string {
  if (summary === null) return '–';
  const { error, bias, noise, cells } = summary;
  return `${percent(error)} (${signed(bias)}; ${percent(noise)}; ${cells})`;
}

const row = (name: string, columns: string[]): string =>
  [name.padEnd(7), ...columns.map((text) => text.padEnd(28))].join(' ').trimEnd();
const percent = (fraction: number): string => `${Number((fraction * 100).toFixed(1))}%`;
const signed = (fraction: number): string => `${fraction < 0 ? '−' : '+'}${percent(Math.abs(fraction))}`;
