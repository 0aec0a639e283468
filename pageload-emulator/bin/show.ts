import { counted, printable, table } from '@hopwise/contract/terminal';
import {
  type ActionKind,
  type ActionNeed,
  type Decision,
  type Fit,
  fastestProtocols,
  lossIn,
  type OriginRecommendation,
  type PageGraph,
  PROTOCOLS,
  type Prediction,
  type Protocol,
  reasonToLeave,
  type WhatIf,
} from '@hopwise/pageload-emulator';
import { type ListFlags, rowLimit } from './options.ts';
import { paint } from './output.ts';

/** Origins that are shown at most unless more are asked for. */
const USUAL_ORIGINS = 8;
/** An origin whose protocol moves the load time by less than this share does not matter. */
const MIN_EFFECT = 0.01;

/** Characters of a verdict: it is cut where names of hosts make it longer. */
const MAX_VERDICT = 200;

/** A prediction for a person. @param earlier loads that it rests on besides the recorded one */
export function showPrediction(prediction: Prediction, earlier: number, flags: ListFlags = {}): string {
  return [
    ...showDecision(prediction.decision),
    '',
    ...showSetting(prediction, earlier),
    '',
    ...showFit(prediction.fit),
    table(
      withoutUnknown([PROTOCOL_TITLES, ...PROTOCOLS.map((protocol) => protocolRow(prediction, protocol))]),
    ),
    '',
    ...paragraph([...reasonsOf(prediction), ...prediction.notes]),
    ...(prediction.whatIf ? [showWhatIf(prediction.whatIf), ''] : []),
    ...showOrigins(prediction, flags),
  ].join('\n');
}

/** Why a protocol is the best and whether mixing them helps: what the verdict does not say already. */
export function reasonsOf({
  decision,
  reasons,
  assigned,
}: Pick<Prediction, 'decision' | 'reasons' | 'assigned'>): string[] {
  return [
    ...(reasonToLeave(decision) === 'equal' ? [] : reasons),
    ...(assigned.margin > 0 ? [assigned.reason] : []),
  ];
}

/** Lines with an empty one after them; nothing where there are none. */
const paragraph = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : [...lines, '']);

const PROTOCOL_TITLES = ['protocol', '>load time', '>low', '>high', '>first paint', '>largest', ''];

/** A table without the columns in which every row has nothing. */
function withoutUnknown(rows: readonly string[][]): string[][] {
  const isKnown = (column: number) =>
    rows.slice(1).some((row) => (row[column] ?? '') !== '' && row[column] !== '–');
  return rows.map((row) => row.filter((_, column) => isKnown(column)));
}

/** The origins whose protocol moves the load time, those that move it most first; others where they are asked for. */
function showOrigins({ origins, assignedPltMs, decision }: Prediction, flags: ListFlags): string[] {
  const effects = new Map(origins.map((origin) => [origin, effectOf(origin) / assignedPltMs]));
  const sorted = origins.toSorted((a, b) => effects.get(b)! - effects.get(a)!);
  const isAsked = flags.all === true || flags.top !== undefined;
  const wanted = isAsked ? sorted : sorted.filter((origin) => effects.get(origin)! >= MIN_EFFECT);
  const shown = wanted.slice(0, rowLimit(flags, USUAL_ORIGINS));
  const rest = origins.length - shown.length;
  const others = shown.length === 0 ? counted(rest, 'origin') : `and ${counted(rest, 'other origin')}`;
  const small = shown.length < wanted.length ? '' : ', where the fastest protocol leads by less than 1%';
  return [
    ...(shown.length === 0
      ? []
      : [table([ORIGIN_TITLES, ...shown.map((origin) => originRow(origin, decision))])]),
    ...(rest === 0 ? [] : [`${others}${isAsked ? '' : small} (--all shows all)`]),
  ];
}

/** How far an origin's two fastest protocols are apart in load time, milliseconds. */
function effectOf({ pltMs }: OriginRecommendation): number {
  const [first = 0, second = first] = Object.values(pltMs).sort((a, b) => a - b);
  return second - first;
}

const ORIGIN_TITLES = ['origin', '>requests', '>kB', 'protocol', '>sure', 'reason'];

/** An origin that the recommended action changes has its protocol: what it would gain alone, beside others as now, says something else. */
function originRow(
  { origin, requests, bytes, protocol, confidence, reason }: OriginRecommendation,
  { kind, action }: Decision,
): string[] {
  const isActedOn = kind === 'act' && action.origins.includes(origin);
  const advice: [Protocol, number, string] = isActedOn
    ? [action.assignment[origin] ?? protocol, action.helps, 'see what to do, above']
    : [protocol, confidence, reason];
  return [
    printable(origin, 48),
    String(requests),
    String(Math.round(bytes / 1000)),
    advice[0],
    `${Math.round(advice[1] * 100)}%`,
    advice[2],
  ];
}

/** How well the recorded load is explained, with an empty line after it; nothing where there is nothing to say. */
export function showFit({ summary, notes }: Fit): string[] {
  const lines = [...(summary === '' ? [] : [summary]), ...notes];
  return lines.length === 0 ? [] : [...lines.map((line) => printable(line, 300)), ''];
}

/** Why the recorded load is not understood, in one line; null where it is. */
export const whyMisunderstood = ({ understood, summary, notes }: Fit): string | null =>
  understood ? null : [summary, ...notes].filter(Boolean).join(' ');

/** The page, its recorded load and the network of a prediction. @param earlier loads known besides the recorded one */
export function showSetting(
  { page, network, observed }: Pick<Prediction, 'page' | 'network' | 'observed'>,
  earlier: number,
): string[] {
  const observedPlt = observed.pltMs === null ? 'no load event' : ms(observed.pltMs);
  const used = Object.entries(observed.protocols)
    .sort(([, a], [, b]) => b - a)
    .map(([protocol]) => protocol);
  const { source, ranges } = network;
  // As `--queue` takes it: how long the full queue takes to drain.
  const bytesPerMs = (network.downMbps * 1000) / 8;
  const udp = typeof network.udp === 'number' ? `limited to ${number(network.udp)} Mbit/s` : network.udp;
  return [
    `${printable(page.url, 100)}`,
    `${counted(page.requests, 'request')}, ${counted(page.origins, 'origin')}, ${Math.round(page.bytes / 1000)} kB; recorded: ${observedPlt} over ${used.join(', ') || 'unknown protocols'}`,
    '',
    table([
      ['network', '>value', '>low', '>high', 'source'],
      ['round trip', `${number(network.rttMs)} ms`, ...lowHigh(ranges.rttMs), source.rttMs],
      ['down', `${number(network.downMbps)} Mbit/s`, ...lowHigh(ranges.downMbps), source.downMbps],
      ['up', `${number(network.upMbps)} Mbit/s`, ...lowHigh(ranges.upMbps), source.upMbps],
      ['loss', lossIn('en', network.loss), ...lowHighLoss(ranges.loss), source.loss],
      [
        'loss burst',
        counted(Math.round(10 * network.lossBurst) / 10, 'packet'),
        ...lowHigh(ranges.lossBurst),
        source.lossBurst,
      ],
      [
        'queue',
        `${number(network.queueBytes / bytesPerMs)} ms`,
        ...lowHigh(ranges.queueBytes, bytesPerMs),
        source.queueBytes,
      ],
      ['UDP', udp, '', '', udpSource(network)],
    ]),
    ...(earlier === 0
      ? []
      : [`known from this load and ${earlier === 1 ? 'an earlier one' : `${earlier} earlier ones`}`]),
  ];
}

/** Both ends of a range, where there is one. */
function lowHigh({ low, high }: { low: number; high: number }, unit = 1): [string, string] {
  return low === high ? ['', ''] : [number(low / unit), number(high / unit)];
}

/** Both ends of a range of losses, where they are written differently. */
function lowHighLoss({ low, high }: { low: number; high: number }): [string, string] {
  const [lowText, highText] = [lossIn('en', low), lossIn('en', high)];
  return lowText === highText ? ['', ''] : [lowText, highText];
}

function udpSource({ source, udpShares: { policed, blocked } }: Prediction['network']): string {
  if (source.udp === 'given' || source.udp === 'measured') return source.udp;
  const share = (value: number) => `${Math.round(value * 100)}%`;
  return `${source.udp}; limited ${share(policed)}, blocked ${share(blocked)}`;
}

/** What changed servers would change. */
export function showWhatIf({ change, protocols }: WhatIf): string {
  return table([
    [`with ${change}`, '>load time', '>low', '>high', '>change'],
    ...PROTOCOLS.map((protocol) => {
      const time = protocols[protocol];
      if ('unavailable' in time) return [protocol, '–', '', '', ''];
      return [protocol, ms(time.pltMs), ms(time.low), ms(time.high), signedPercent(time.change)];
    }),
  ]);
}

/** What to do, then what each action would change against the browser's own behaviour. */
function showDecision({ kind, verdict, baseline, actions, evidence, changed }: Decision): string[] {
  const share = (value: number) => `${Math.round(value * 100)}%`;
  const own: Row = [
    `browser alone${baseline.visit === 'first' ? ', first visit' : ''}`,
    ms(baseline.pltMs),
    ms(baseline.low),
    ms(baseline.high),
    '',
    '',
    '',
    '',
  ];
  const later: Row[] =
    baseline.visit === 'first' ? [['  later visits', ms(baseline.laterPltMs), '', '', '', '', '', '']] : [];
  const others = actions
    .filter((action) => action.kind !== 'leave')
    .map(({ kind, origins, protocol, time, gain, helps, harms, needs }): Row => {
      const what =
        kind === 'force-protocol' && protocol !== null ? `hold to ${protocol}` : ACTION_WORDS[kind];
      return [
        `${what}: ${counted(origins.length, 'origin')}`,
        ms(time.pltMs),
        ms(time.low),
        ms(time.high),
        signedPercent(-gain),
        share(helps),
        share(harms),
        needs.map((need) => NEED_WORDS[need]).join(', '),
      ];
    });
  return [
    paint(kind === 'act' ? ['bold', 'green'] : 'bold', `${printable(verdict, MAX_VERDICT)}.`),
    ...(changed === null ? [] : [printable(changed, 300)]),
    ...evidence.map(({ text }) => printable(text, 300)),
    '',
    table([
      ['what you can do', '>load time', '>low', '>high', '>change', '>helps', '>harms', 'needs'],
      own,
      ...later,
      ...others,
    ]),
    ...(later.length === 0 ? [] : ['later visits: when the browser remembers which servers offer HTTP/3']),
    ...(later.length === 0 || others.length === 0 || baseline.measured
      ? []
      : ['change: against the faster of both visits']),
    ...(others.length === 0 ? [] : ['helps, harms: loads that get faster, loads that get over 5% slower']),
  ];
}

type Row = [string, string, string, string, string, string, string, string];

const ACTION_WORDS: Record<ActionKind, string> = {
  leave: 'leave it',
  'avoid-h3': 'keep off h3',
  'force-protocol': 'mix protocols',
  'offer-h3': 'offer h3',
  'withdraw-h3': 'stop offering h3',
};

const NEED_WORDS: Record<ActionNeed, string> = {
  helper: 'the helper',
  ca: 'its certificate authority',
  server: 'your own server',
};

/** Many predictions as one table. @param rows predictions with names that distinguish their files */
export function showComparison(rows: readonly { name: string; prediction: Prediction }[]): string {
  return table([
    ['file', '>requests', '>origins', '>kB', '>h1', '>h2', '>h3', '>per origin', 'fastest', 'verdict'],
    ...rows.map(({ name, prediction }) => [
      name,
      String(prediction.page.requests),
      String(prediction.page.origins),
      String(Math.round(prediction.page.bytes / 1000)),
      ...PROTOCOLS.map((protocol) => {
        const time = prediction.protocols[protocol];
        return 'pltMs' in time ? ms(time.pltMs) : '–';
      }),
      ms(prediction.assignedPltMs),
      nameFastest(prediction.decision),
      printable(prediction.decision.verdict, MAX_VERDICT),
    ]),
  ]);
}

function nameFastest({ protocols }: Decision): string {
  const [fastest, ...equal] = fastestProtocols(protocols);
  return equal.length > 0 ? '–' : fastest!;
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
    `${printable(graph.url, 100)}: ${graph.activities.length} activities, ${counted(graph.origins.length, 'origin')}`,
    'A dependency reads activity:kind@fraction; ~ marks one that was inferred.',
    '',
    table([['>id', 'type', '>bytes', 'load', '>ms', 'after', 'what'], ...rows]),
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

function protocolRow({ protocols, decision }: Prediction, protocol: Protocol): string[] {
  const time = protocols[protocol];
  if ('unavailable' in time) return [protocol, '–', '', '', '', '', time.unavailable];
  return [
    protocol,
    ms(time.pltMs),
    ms(time.low),
    ms(time.high),
    msOrNone(time.firstContentfulPaintMs),
    msOrNone(time.largestContentfulPaintMs),
    rankOf(protocol, decision),
  ];
}

/** Nothing is called the best that is about as fast as another protocol, or slower. */
function rankOf(protocol: Protocol, { best, confidence, protocols }: Decision): string {
  const fastest = fastestProtocols(protocols);
  if (fastest.length > 1) {
    const areAll = fastest.length === Object.keys(protocols).length;
    return fastest.includes(protocol) && !areAll ? 'about equal' : '';
  }
  if (protocol !== fastest[0]) return '';
  if (protocol === best) return paint('green', `best, ${Math.round(confidence * 100)}% sure`);
  return 'fastest, not surely';
}

export function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

const msOrNone = (value: number | null): string => (value === null ? '–' : ms(value));

/** `+4.0%`. A change that rounds to none has no sign. */
function signedPercent(share: number): string {
  const tenths = Math.round(share * 1000);
  return `${tenths > 0 ? '+' : tenths < 0 ? '−' : ''}${(Math.abs(tenths) / 10).toFixed(1)}%`;
}

/** Two significant digits, or whole from 100 on. */
export function number(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
