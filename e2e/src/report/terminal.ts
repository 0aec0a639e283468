import { styleText } from 'node:util';
import { PROTOCOL_NAME } from '@hopwise/contract';
import { formatBytes } from '@hopwise/extension/format';
import { table, wrap } from '@hopwise/lab/output/table';
import { count, duration, networkText } from '@hopwise/lab/output/words';
import { PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import { isUnavailable, type Report } from './report.ts';

function cell(value: Report['protocols']['h1'][keyof Report['protocols']['h1']]): string {
  if (value === null) return '–';
  if (isUnavailable(value)) return 'unavailable';
  return `${duration(value.median)} (${duration(value.low)} – ${duration(value.high)})`;
}

/** One line for each reason, naming what it keeps from being known. */
function whyUnavailable(report: Report, protocol: Protocol): string[] {
  const { predictedMs, verifiedMs, measuredMs } = report.protocols[protocol];
  const kinds = Object.entries({ predicted: predictedMs, verified: verifiedMs, measured: measuredMs });
  const byReason = new Map<string, string[]>();
  for (const [kind, time] of kinds) {
    if (!isUnavailable(time)) continue;
    byReason.set(time.unavailable, [...(byReason.get(time.unavailable) ?? []), kind]);
  }
  return [...byReason].map(
    ([why, of]) => `${PROTOCOL_NAME[protocol]} is unavailable (${of.join(', ')}): ${why}`,
  );
}

/** The report as text, coloured where the stream is a terminal that shows colours. */
export function renderTerminal(report: Report, stream: NodeJS.WriteStream): string {
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream, validateStream: true });
  // A pseudo-terminal that nobody gave a size says 0.
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
    lines.push(`the browser's own choice: loaded in ${duration(report.observed.pltMs)} (${mix})`);
  }
  lines.push('');
  const header = ['', 'predicted', 'verified (libcurl)'];
  if (report.mode === 'lab') header.push('measured (Chromium)');
  const rows = PROTOCOLS.map((protocol) => {
    const times = report.protocols[protocol];
    const row = [PROTOCOL_NAME[protocol], cell(times.predictedMs), cell(times.verifiedMs)];
    if (report.mode === 'lab') row.push(cell(times.measuredMs));
    return protocol === report.best ? row.map((text) => paint('bold', text)) : row;
  });
  lines.push(table([header.map((text) => paint('dim', text)), ...rows]));
  for (const protocol of PROTOCOLS) lines.push(...whyUnavailable(report, protocol));
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
  lines.push('', `per origin (${duration(report.assignedPltMs)} in all):`);
  const origins = table(
    report.origins.map((origin) => [
      `  ${origin.origin}`,
      count(origin.requests, 'request'),
      origin.decided ? PROTOCOL_NAME[origin.protocol] : paint('dim', 'no clear winner'),
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
  lines.push('');
  return lines.join('\n');
}
