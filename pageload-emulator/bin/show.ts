import {
  type PageGraph,
  PROTOCOLS,
  type Prediction,
  type Protocol,
  type WhatIf,
} from '@hopwise/pageload-emulator';
import { printable, table } from './table.ts';

/** A prediction for a person. @param earlier loads that it rests on besides the recorded one */
export function showPrediction(prediction: Prediction, earlier: number): string {
  const { assigned } = prediction;
  return [
    ...showSetting(prediction, earlier),
    '',
    table(
      ['protocol', '>load time', '>low', '>high', '>first paint', '>largest', ''],
      PROTOCOLS.map((protocol) => protocolRow(prediction, protocol)).concat([
        ['per origin', ms(assigned.pltMs), ms(assigned.low), ms(assigned.high), '', '', ''],
      ]),
    ),
    '',
    headline(prediction),
    ...prediction.reasons,
    assigned.reason,
    ...prediction.notes.map(showNote),
    '',
    ...(prediction.whatIf ? [showWhatIf(prediction.whatIf), ''] : []),
    table(
      ['origin', '>requests', '>kB', 'protocol', '>sure', 'reason'],
      prediction.origins.map((origin) => [
        printable(origin.origin, 48),
        String(origin.requests),
        String(Math.round(origin.bytes / 1000)),
        origin.protocol,
        `${Math.round(origin.confidence * 100)}%`,
        origin.reason,
      ]),
    ),
  ].join('\n');
}

const counted = (value: number, noun: string): string => `${value} ${noun}${value === 1 ? '' : 's'}`;

/** The page, its recorded load and the network of a prediction. @param earlier loads known besides the recorded one */
export function showSetting(
  { page, network, observed }: Pick<Prediction, 'page' | 'network' | 'observed'>,
  earlier: number,
): string[] {
  const observedPlt = observed.pltMs === null ? 'no load event' : ms(observed.pltMs);
  const counts = Object.entries(observed.protocols).map(([protocol, requests]) => `${protocol} ${requests}`);
  const { source, ranges } = network;
  const udp = typeof network.udp === 'number' ? `held to ${number(network.udp)} Mbit/s` : network.udp;
  return [
    `${printable(page.url, 100)}`,
    `${counted(page.requests, 'request')}, ${counted(page.origins, 'origin')}, ${Math.round(page.bytes / 1000)} kB; recorded: ${observedPlt} (${counts.join(', ') || 'protocols unknown'})`,
    '',
    table(
      ['network', '>value', '>low', '>high', 'source'],
      [
        ['round trip', `${number(network.rttMs)} ms`, ...lowHigh(ranges.rttMs), source.rttMs],
        ['down', `${number(network.downMbps)} Mbit/s`, ...lowHigh(ranges.downMbps), source.downMbps],
        ['up', `${number(network.upMbps)} Mbit/s`, ...lowHigh(ranges.upMbps), source.upMbps],
        ['loss', `${number(network.loss * 100)}%`, ...lowHigh(ranges.loss, 0.01), source.loss],
        [
          'queue',
          `${Math.round(network.queueBytes / 1000)} kB`,
          ...lowHigh(ranges.queueBytes, 1000),
          source.queueBytes,
        ],
        ['UDP', udp, '', '', udpSource(network)],
      ],
    ),
    ...(earlier === 0
      ? []
      : [`known from this load and ${earlier === 1 ? 'an earlier one' : `${earlier} earlier ones`}`]),
  ];
}

/** Both ends of a range, where there is one. */
function lowHigh({ low, high }: { low: number; high: number }, unit = 1): [string, string] {
  return low === high ? ['', ''] : [number(low / unit), number(high / unit)];
}

function udpSource({ source, udpShares: { policed, blocked } }: Prediction['network']): string {
  if (source.udp === 'given' || source.udp === 'measured') return source.udp;
  const share = (value: number) => `${Math.round(value * 100)}%`;
  return `${source.udp}; held to a rate ${share(policed)}, blocked ${share(blocked)}`;
}

/** What was left out of an answer. */
export const showNote = (note: string): string => `Emulating this page takes long. ${note}`;

/** What changed servers would change. */
export function showWhatIf({ change, protocols }: WhatIf): string {
  return table(
    [`with ${change}`, '>load time', '>low', '>high', '>change'],
    PROTOCOLS.map((protocol) => {
      const time = protocols[protocol];
      if ('unavailable' in time) return [protocol, '–', '', '', ''];
      return [protocol, ms(time.pltMs), ms(time.low), ms(time.high), signedPercent(time.change)];
    }),
  );
}

/** The answer in one line. */
export function headline({
  best,
  decided,
  margin,
  confidence,
}: Pick<Prediction, 'best' | 'decided' | 'margin' | 'confidence'>): string {
  if (margin === 0) return `No clear winner: ${best} is the safer choice.`;
  const lead = `${best} is ahead by ${Math.round(margin * 100)}%, ${Math.round(confidence * 100)}% sure`;
  return decided ? `Best: ${lead}.` : `No clear winner: ${lead}.`;
}

/** Many predictions as one table. @param rows predictions with names that distinguish their files */
export function showComparison(rows: readonly { name: string; prediction: Prediction }[]): string {
  return table(
    ['file', '>requests', '>origins', '>kB', '>h1', '>h2', '>h3', '>per origin', 'best', '>sure', ''],
    rows.map(({ name, prediction }) => [
      name,
      String(prediction.page.requests),
      String(prediction.page.origins),
      String(Math.round(prediction.page.bytes / 1000)),
      ...PROTOCOLS.map((protocol) => {
        const time = prediction.protocols[protocol];
        return 'pltMs' in time ? ms(time.pltMs) : '–';
      }),
      ms(prediction.assignedPltMs),
      prediction.best,
      `${Math.round(prediction.confidence * 100)}%`,
      prediction.decided ? '' : 'no clear winner',
    ]),
  );
}

/** A page graph as a list of activities in order. */
export function showGraph(graph: PageGraph): string {
  const rows = graph.activities.map((activity) => {
    const after =
      activity.after.length > 8 ? `${activity.after.length} activities` : activity.after.map(edge);
    const waits = Array.isArray(after) ? after.join(' ') : after;
    const blocks = activity.blocksLoad ? 'yes' : '';
    if (activity.kind === 'compute') {
      return [
        String(activity.id),
        'compute',
        '',
        blocks,
        number(activity.durationMs),
        waits,
        `of request ${activity.requestId}`,
      ];
    }
    return [
      String(activity.id),
      activity.type,
      String(activity.responseBytes),
      blocks,
      number(activity.delayMs),
      waits,
      printable(activity.url, 80),
    ];
  });
  return [
    `${printable(graph.url, 100)}: ${graph.activities.length} activities, ${graph.origins.length} origins`,
    'A dependency reads activity:kind@fraction; ~ marks one that was inferred.',
    '',
    table(['>id', 'type', '>bytes', 'load', '>ms', 'after', 'what'], rows),
  ].join('\n');
}

function edge({
  activity,
  kind,
  fraction,
  source,
}: PageGraph['activities'][number]['after'][number]): string {
  const part = fraction < 1 ? `@${fraction.toFixed(2)}` : '';
  return `${source === 'inferred' ? '~' : ''}${activity}:${kind}${part}`;
}

function protocolRow(prediction: Prediction, protocol: Protocol): string[] {
  const time = prediction.protocols[protocol];
  if ('unavailable' in time) return [protocol, '–', '', '', '', '', time.unavailable];
  const mark = protocol === prediction.best ? (prediction.decided ? 'best' : 'best, but not clearly') : '';
  return [
    protocol,
    ms(time.pltMs),
    ms(time.low),
    ms(time.high),
    msOrNone(time.firstContentfulPaintMs),
    msOrNone(time.largestContentfulPaintMs),
    mark,
  ];
}

export function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

const msOrNone = (value: number | null): string => (value === null ? '–' : ms(value));

function signedPercent(share: number): string {
  return `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.abs(share * 100).toFixed(1)}%`;
}

/** Two significant digits, or whole from 100 on. */
export function number(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
