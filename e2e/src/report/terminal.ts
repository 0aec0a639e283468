import { styleText } from 'node:util';
import { PROTOCOL_NAME } from '@hopwise/contract';
import { formatBytes } from '@hopwise/extension/format';
import { table, wrap } from '@hopwise/lab/output/table';
import { count, duration, networkText } from '@hopwise/lab/output/words';
import { PROTOCOLS, type Protocol, type Unavailable } from '@hopwise/pageload-emulator';
import {
  formatChange,
  isUnavailable,
  measuredChange,
  type RepeatedSpread,
  type Report,
  type Spread,
} from './report.ts';

const BASELINE = "the browser's own choice";
const ASSIGNMENT = "hopwise's assignment";

type Time = Spread | RepeatedSpread | Unavailable | null;

/** A row of the table of load times. */
interface Row {
  name: string;
  predictedMs: Time;
  verifiedMs: Time;
  measuredMs: Time;
}

function cell(value: Time): string {
  if (value === null) return '–';
  if (isUnavailable(value)) return 'unavailable';
  if ('n' in value && value.n === 1) return `${duration(value.median)} (once)`;
  return `${duration(value.median)} (${duration(value.low)} – ${duration(value.high)})`;
}

function rowsOf({ mode, baseline, protocols, assignment }: Report): Row[] {
  const none = { predictedMs: null, verifiedMs: null };
  const fixed = (protocol: Protocol) => ({ name: PROTOCOL_NAME[protocol], ...protocols[protocol] });
  return [
    ...(mode === 'lab' ? [{ name: BASELINE, ...none, measuredMs: baseline.measuredMs }] : []),
    ...PROTOCOLS.map(fixed),
    { name: ASSIGNMENT, ...none, ...assignment },
  ];
}

/** One line for each reason, naming the kinds of times that are missing. */
function whyUnavailable({ name, predictedMs, verifiedMs, measuredMs }: Row): string[] {
  const kinds = Object.entries({ predicted: predictedMs, verified: verifiedMs, measured: measuredMs });
  const byReason = new Map<string, string[]>();
  for (const [kind, time] of kinds) {
    if (!isUnavailable(time)) continue;
    byReason.set(time.unavailable, [...(byReason.get(time.unavailable) ?? []), kind]);
  }
  return [...byReason].map(([why, of]) => `${name} is unavailable (${of.join(', ')}): ${why}`);
}

/** The report as text, coloured where the stream is a terminal that shows colours. */
export function renderTerminal(report: Report, stream: NodeJS.WriteStream): string {
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream, validateStream: true });
  // A pseudo-terminal without a size reports 0 columns.
  const columns = Math.min(stream.columns || 100, 120);
  const lines: string[] = [];
  const { page, network } = report;
  lines.push(
    '',
    `${paint('bold', page.name || page.url)}: ${count(page.requests, 'request')} on ${count(page.origins, 'origin')}, ` +
      formatBytes(page.bytes),
  );
  if (network.set) lines.push(`link as set (${network.set.name}): ${networkText(network.set)}`);
  lines.push(`network as estimated: ${networkText(network.estimated)}`);
  const mix = PROTOCOLS.filter((p) => report.observed.protocols[p])
    .map((p) => `${report.observed.protocols[p]} over ${PROTOCOL_NAME[p]}`)
    .join(', ');
  if (report.observed.pltMs !== null) {
    lines.push(`recorded load, the browser's own choice: ${duration(report.observed.pltMs)} (${mix})`);
  }
  lines.push('');
  const header = ['', 'predicted', 'verified (libcurl)'];
  if (report.mode === 'lab') header.push('measured (Chromium)');
  const rows = rowsOf(report);
  const cells = rows.map((row) => {
    const texts = [row.name, cell(row.predictedMs), cell(row.verifiedMs)];
    if (report.mode === 'lab') texts.push(cell(row.measuredMs));
    return row.name === ASSIGNMENT ? texts.map((text) => paint('bold', text)) : texts;
  });
  lines.push(table([header.map((text) => paint('dim', text)), ...cells]));
  lines.push(...rows.flatMap(whyUnavailable));
  lines.push('');
  const sure = `${Math.round(report.confidence * 100)}% sure`;
  lines.push(
    report.decided
      ? paint(
          ['bold', 'green'],
          `${PROTOCOL_NAME[report.best]} loads this page fastest, by ${Math.round(report.margin * 100)}% (${sure})`,
        )
      : paint(
          'bold',
          `No clear winner; ${PROTOCOL_NAME[report.best]} is ahead by ${Math.round(report.margin * 100)}% (${sure})`,
        ),
  );
  for (const reason of report.reasons) {
    lines.push(...wrap(reason, columns - 4).map((part, index) => `${index === 0 ? '  ' : '    '}${part}`));
  }
  for (const note of report.prediction.notes) {
    lines.push(...wrap(note, columns - 4).map((part) => paint('dim', `  ${part}`)));
  }
  lines.push('', `per origin (${duration(report.assignment.predictedMs.median)} in all, predicted):`);
  const origins = table(
    report.origins.map((origin) => [
      `  ${origin.origin}`,
      count(origin.requests, 'request'),
      origin.decided
        ? PROTOCOL_NAME[origin.protocol]
        : paint('dim', `${PROTOCOL_NAME[origin.protocol]}, no clear winner`),
      origin.decided ? `${Math.round(origin.confidence * 100)}% sure` : '',
    ]),
  ).split('\n');
  for (const [index, line] of origins.entries()) {
    lines.push(line);
    const origin = report.origins[index];
    if (origin?.decided)
      lines.push(...wrap(origin.reason, columns - 6).map((part) => paint('dim', `      ${part}`)));
  }
  for (const warning of report.warnings) lines.push('', paint('yellow', `note: ${warning}`));
  const change = measuredChange(report);
  if (change !== null) {
    const { baselineMs, assignedMs } = change;
    const text = `${ASSIGNMENT}: ${duration(baselineMs)} → ${duration(assignedMs)} measured (${formatChange(change.change)})`;
    lines.push('', paint(change.change < 0 ? ['bold', 'green'] : 'bold', text));
  }
  lines.push('');
  return lines.join('\n');
}
