import { styleText } from 'node:util';
import { PROTOCOL_NAME } from '@hopwise/contract';
import { table, wrap } from '@hopwise/contract/terminal';
import { formatBytes } from '@hopwise/extension/format';
import { isUnavailable, type RepeatedSpread, type Report, type TimeSpread } from '@hopwise/extension/report';
import { adviseOrigins, describeRest } from '@hopwise/extension/views';
import { count, networkText } from '@hopwise/lab/output/words';
import { durationsIn, PROTOCOLS, type Protocol, type Unavailable } from '@hopwise/pageload-emulator';

const BASELINE = "the browser's own choice";
const ACTION = "hopwise's action";

type Time = TimeSpread | RepeatedSpread | Unavailable | null;

/** A row of the table of load times. */
interface Row {
  name: string;
  predictedMs: Time;
  verifiedMs: Time;
  measuredMs: Time;
}

/** Writes times as the report's views do: all in the unit of the longest. */
function createCellFormat(rows: readonly Row[]): (value: Time) => string {
  const times = rows.flatMap(({ predictedMs, verifiedMs, measuredMs }) => [
    predictedMs,
    verifiedMs,
    measuredMs,
  ]);
  const medians = times.flatMap((time) => (time === null || isUnavailable(time) ? [] : time.median));
  const write = (ms: number) => durationsIn('en', [ms, ...medians])[0]!;
  return (value) => {
    if (value === null) return '–';
    if (isUnavailable(value)) return 'unavailable';
    if ('n' in value && value.n === 1) return `${write(value.median)} (1 run)`;
    return `${write(value.median)} (${write(value.low)} – ${write(value.high)})`;
  };
}

function rowsOf({ prediction, baseline, protocols, assignment }: Report): Row[] {
  const fixed = (protocol: Protocol) => ({ name: PROTOCOL_NAME[protocol], ...protocols[protocol] });
  return [
    { name: BASELINE, ...baseline },
    ...PROTOCOLS.map(fixed),
    ...(prediction.decision.action.kind === 'leave' ? [] : [{ name: ACTION, ...assignment }]),
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

/** What to do about each origin that matters, as the report's views say it; the others in one line. */
function originLines({ origins, decision, observed }: Report, dim: (text: string) => string): string[] {
  const { advised, rest } = adviseOrigins({ origins, decision, observed });
  const rows = advised.map(({ origin: { origin, requests }, instruction }) => [
    `  ${origin}`,
    count(requests, 'request'),
    instruction,
  ]);
  return [
    ...(rows.length > 0 ? table(rows).split('\n') : []),
    ...(rest.length > 0 ? [dim(`  ${describeRest(rest.length, origins.length)}`)] : []),
  ];
}

/** The report as text, coloured where the stream is a terminal that shows colours. */
export function renderTerminal(report: Report, stream: NodeJS.WriteStream): string {
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream, validateStream: true });
  // A pseudo-terminal without a size reports 0 columns.
  const columns = Math.min(stream.columns || 100, 120);
  const lines: string[] = [];
  const { page, network, decision } = report;
  const verdict = paint(decision.kind === 'act' ? ['bold', 'green'] : 'bold', `${decision.verdict}.`);
  lines.push(
    '',
    verdict,
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
    lines.push(
      `recorded load, the browser's own choice: ${durationsIn('en', [report.observed.pltMs])[0]} (${mix})`,
    );
  }
  lines.push('');
  const header = ['', 'predicted', 'verified (libcurl)'];
  if (report.mode === 'lab') header.push('measured (Chromium)');
  const rows = rowsOf(report);
  const cell = createCellFormat(rows);
  const cells = rows.map((row) => {
    const texts = [row.name, cell(row.predictedMs), cell(row.verifiedMs)];
    if (report.mode === 'lab') texts.push(cell(row.measuredMs));
    return row.name === ACTION ? texts.map((text) => paint('bold', text)) : texts;
  });
  lines.push(table([header.map((text) => paint('dim', text)), ...cells]));
  lines.push(...rows.flatMap(whyUnavailable));
  lines.push('');
  const reasons = decision.evidence.map(({ text }) => text);
  if (decision.changed !== null) reasons.unshift(decision.changed);
  for (const reason of reasons) {
    lines.push(...wrap(reason, columns - 4).map((part, index) => `${index === 0 ? '  ' : '    '}${part}`));
  }
  for (const note of report.prediction.notes) {
    lines.push(...wrap(note, columns - 4).map((part) => paint('dim', `  ${part}`)));
  }
  lines.push('', ...originLines(report, (text) => paint('dim', text)));
  for (const warning of report.warnings) lines.push('', paint('yellow', `note: ${warning}`));
  lines.push('', verdict);
  lines.push('');
  return lines.join('\n');
}
