import { printable, table } from '@hopwise/contract/terminal';
import { PROTOCOL_NAME } from '@hopwise/pageload-emulator';
import type { EconExplanation, EconPrediction } from '@hopwise/pageload-emulator/econ';
import { ms, showSetting } from './show.ts';

/** Connections and transfers that are shown of a load. */
const MAX_ROWS = 12;

const LIMITS =
  'ECON models HTTP/1.1 and HTTP/2 for all origins alike, and gives means: no HTTP/3, ranges, confidence, paints or choice by origin.';

/** ECON's prediction for a person. @param earlier loads that the network's figures rest on besides the recorded one */
export function showEconPrediction(prediction: EconPrediction, pcwnd: string, earlier: number): string {
  return [
    ...showSetting(prediction, earlier),
    ...(pcwnd === '' ? [] : [pcwnd]),
    '',
    table([
      ['protocol', '>load time', ''],
      ...times(prediction),
      ['h3', '–', prediction.protocols.h3.unavailable],
    ]),
    '',
    econHeadline(prediction),
    LIMITS,
  ].join('\n');
}

function times({ protocols, best }: EconPrediction): string[][] {
  return (['h1', 'h2'] as const).map((protocol) => [
    protocol,
    ms(protocols[protocol].pltMs),
    protocol === best ? 'best' : '',
  ]);
}

const econHeadline = ({ best, margin }: Pick<EconPrediction, 'best' | 'margin'>): string =>
  margin < 0.005
    ? 'ECON: h1 and h2 take equally long.'
    : `ECON: ${best} is ahead by ${Math.round(margin * 100)}%.`;

/** ECON's explanation for a person. */
export function showEconExplanation(explanation: EconExplanation, pcwnd: string): string {
  const { page, protocols } = explanation;
  return [
    printable(page.url, 100),
    econHeadline(explanation),
    ...(pcwnd === '' ? [] : [pcwnd]),
    LIMITS,
    ...(['h1', 'h2'] as const).flatMap((protocol) => ['', ...showLoad(protocol, protocols[protocol])]),
    '',
    `${PROTOCOL_NAME.h3}: ${protocols.h3.unavailable}`,
  ].join('\n');
}

function showLoad(protocol: 'h1' | 'h2', load: EconExplanation['protocols']['h1' | 'h2']): string[] {
  const { connections, transfers } = load;
  const busiest = connections.toSorted((a, b) => b.bytes - a.bytes).slice(0, MAX_ROWS);
  const longest = transfers
    .toSorted((a, b) => b.endMs - b.askedMs - (a.endMs - a.askedMs))
    .slice(0, MAX_ROWS)
    .toSorted((a, b) => a.askedMs - b.askedMs);
  return [
    `${PROTOCOL_NAME[protocol]}: ${ms(load.pltMs)} on average; below, a load in the middle, of ${ms(load.explainedPltMs)}: ${transfers.length} objects over ${connections.length} connections`,
    '',
    table([
      ['connection to', '>ready', '>requests', '>kB', '>lost segments'],
      ...busiest.map(({ origin, readyMs, requests, bytes, lostSegments }) => [
        printable(origin, 48),
        ms(readyMs),
        String(requests),
        String(Math.round(bytes / 1000)),
        String(lostSegments),
      ]),
    ]),
    ...more(connections.length - busiest.length, 'connections'),
    '',
    table([
      ['longest objects', '>asked', '>waited', '>transfer', '>end', '>kB'],
      ...longest.map(({ url, bytes, askedMs, sentMs, endMs }) => [
        printable(url, 60),
        ms(askedMs),
        ms(sentMs - askedMs),
        ms(endMs - sentMs),
        ms(endMs),
        String(Math.round(bytes / 1000)),
      ]),
    ]),
    ...more(transfers.length - longest.length, 'objects'),
  ];
}

const more = (count: number, what: string): string[] => (count > 0 ? [`and ${count} more ${what}`] : []);

/** Many of ECON's predictions as one table. @param names that distinguish the files */
export function showEconComparison(rows: readonly { name: string; prediction: EconPrediction }[]): string {
  return [
    table([
      ['file', '>requests', '>origins', '>kB', '>h1', '>h2', 'best', '>ahead by'],
      ...rows.map(({ name, prediction: { page, protocols, best, margin } }) => [
        name,
        String(page.requests),
        String(page.origins),
        String(Math.round(page.bytes / 1000)),
        ms(protocols.h1.pltMs),
        ms(protocols.h2.pltMs),
        best,
        `${Math.round(margin * 100)}%`,
      ]),
    ]),
    '',
    LIMITS,
  ].join('\n');
}
