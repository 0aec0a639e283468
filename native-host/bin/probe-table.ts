/** A verification as lines for a terminal. */
import {
  median,
  PROTOCOL_NAME,
  PROTOCOLS,
  removeUserinfo,
  type TransferPlan,
  type Verification,
  type VerifiedAssignment,
  type VerifiedOrigin,
  type VerifiedProtocol,
} from '@hopwise/contract';
import { counted, printable, table } from '@hopwise/contract/terminal';
import { poissonInterval } from '../src/probe/poisson-interval.ts';

type Round = VerifiedProtocol['rounds'][number];
type Transfer = Round['transfers'][number];

const NONE = '-';
/** Some pages have hundreds; `--json` lists all. */
const MAX_ORIGINS = 30;
const URL_WIDTH = 60;
const MAX_STATUS_NOTES = 5;

/** @param resources whether to also list every resource */
export function probeTable(
  verification: Verification,
  plan: TransferPlan,
  { resources }: { resources: boolean },
): string {
  const measured = PROTOCOLS.flatMap((protocol): [string, VerifiedProtocol][] => {
    const outcome = verification.protocols[protocol];
    return outcome ? [[PROTOCOL_NAME[protocol], outcome]] : [];
  });
  const assigned = (verification.assignments ?? []).map((outcome): [string, VerifiedProtocol] => [
    assignmentName(outcome),
    outcome,
  ]);
  measured.push(...assigned);
  const lines = [
    `${verification.pageUrl}: ${counted(plan.transfers.length, 'resource')} of ${counted(verification.origins.length, 'origin')}`,
    '',
    ...table([
      [
        'protocol',
        'median',
        'fastest',
        'slowest',
        'DNS',
        'connect',
        'handshake',
        'first byte',
        'bytes',
        'rounds',
        'under it',
      ],
      ...measured.map(([name, outcome]) => protocolRow(name, outcome)),
    ]).split('\n'),
    ...measured.flatMap(([name, outcome]) => notesOf(name, outcome)),
    ...statusNotes(measured, plan),
    '',
    ...table([
      ['origin', 'offers HTTP/3 in', 'RTT', 'with queues', 'QUIC', 'segments', 'losses', 'resent'],
      ...verification.origins.slice(0, MAX_ORIGINS).map(originRow),
    ]).split('\n'),
  ];
  const more = verification.origins.length - MAX_ORIGINS;
  if (more > 0) lines.push(`and ${counted(more, 'origin')} more, see --json`);
  if (verification.origins.some(({ quic }) => quic)) {
    lines.push(
      'QUIC: libcurl reports neither its round trips nor its losses; a handshake takes one round trip or more.',
    );
  }
  lines.push(...unanswered(verification.origins), '', ...lossOf(verification));
  lines.push(`UDP: ${verification.udp.verdict}. ${verification.udp.reason}`);
  if (verification.stopped) lines.push(`Ended early: ${verification.stopped}`);
  lines.push(spent(verification), verification.engine);
  if (resources) for (const [name, outcome] of measured) lines.push(...resourceRows(name, outcome, plan));
  return lines.map((line) => printable(line, Number.POSITIVE_INFINITY)).join('\n');
}

/** Such as `HTTP/2 for 3, HTTP/3 for 1`; with `once offered` as on a browser's first visit. */
function assignmentName({ assignment, discoversH3 }: VerifiedAssignment): string {
  const assigned = Object.values(assignment);
  const parts = PROTOCOLS.flatMap((protocol) => {
    const origins = assigned.filter((each) => each === protocol).length;
    return origins > 0 ? [`${PROTOCOL_NAME[protocol]} for ${origins}`] : [];
  });
  return `${parts.join(', ')}${discoversH3 ? ' once offered' : ''}`;
}

function protocolRow(
  name: string,
  { rounds, medianMs, lowMs, highMs, ...outcome }: VerifiedProtocol,
): string[] {
  const documents = rounds.flatMap(({ transfers }) => transfers.filter(({ index }) => index === 0));
  const phase = (of: (document: Transfer) => number | null): string => {
    const known = documents.flatMap((document) => of(document) ?? []);
    return ms(known.length > 0 ? median(known) : null);
  };
  return [
    name,
    ms(medianMs),
    ms(lowMs),
    ms(highMs),
    phase(({ dnsMs, startMs }) => dnsMs && dnsMs - startMs),
    // QUIC connects by its handshake.
    phase((one) => (one.protocol === 'h3' ? null : between(one.dnsMs, one.connectMs))),
    phase((one) => between(one.protocol === 'h3' ? one.dnsMs : one.connectMs, one.handshakeMs)),
    phase((one) => between(one.handshakeMs ?? one.startMs, one.firstByteMs)),
    bytes(rounds.length > 0 ? median(rounds.map((round) => round.bytes)) : null),
    String(rounds.length),
    `${outcome.provedRequests} of ${outcome.answeredRequests}`,
  ];
}

function notesOf(name: string, { unavailable, rounds }: VerifiedProtocol): string[] {
  const failed = rounds.flatMap(({ transfers }) => transfers.filter(({ error }) => error !== ''));
  return [
    ...(unavailable ? [`${name}: ${unavailable}`] : []),
    ...(failed.length > 0
      ? [`${name}: ${counted(failed.length, 'request')} failed, the first with: ${failed[0]!.error}`]
      : []),
  ];
}

/** Answers that are not what was asked for: their times are not those of a page. Each URL and status once. */
function statusNotes(measured: readonly [string, VerifiedProtocol][], plan: TransferPlan): string[] {
  const notes = new Set<string>();
  for (const [, { rounds }] of measured) {
    for (const { index, status } of rounds.flatMap(({ transfers }) => transfers)) {
      const what = describeStatus(status);
      if (what !== '') notes.add(`${shortened(plan.transfers[index]!.url)} answered ${status}: ${what}`);
    }
  }
  const all = [...notes];
  const more = all.length - MAX_STATUS_NOTES;
  return more > 0 ? [...all.slice(0, MAX_STATUS_NOTES), `and ${more} more, see --resources`] : all;
}

/** What a status means for a probe; '' for a success. */
function describeStatus(status: number): string {
  if (status === 421) return 'this server does not serve that host (misdirected, RFC 9110, section 15.5.20)';
  if (status >= 300 && status < 400 && status !== 304)
    return 'a redirect, which is not followed: probe the URL that it leads to';
  if (status >= 400 && status < 500) return 'an error instead of the resource';
  return status >= 500 ? 'an error of the server instead of the resource' : '';
}

function originRow({ origin, unreachable, h3Offered, speaks, tcp, quic }: VerifiedOrigin): string[] {
  if (unreachable) return [origin, `not reached: ${unreachable}`];
  const offers = [
    ...h3Offered.altSvc.slice(0, 1).map(({ host, port }) => `Alt-Svc ${host}:${port}`),
    ...(h3Offered.httpsRecord.alpn.includes('h3') ? ['HTTPS record'] : []),
  ].join(', ');
  return [
    origin,
    offers ? `${offers}${speaks.h3 === false ? ', in vain' : ''}` : 'nothing',
    fineMs(tcp?.minRttMs),
    fineMs(tcp?.rttMs),
    quic ? `<= ${fineMs(quic.rttAtMostMs)}` : NONE,
    String(tcp?.segmentsIn ?? NONE),
    String(tcp?.lossEvents ?? NONE),
    String(tcp?.retransmitted ?? NONE),
  ];
}

/** Many resolvers do not answer such queries: an unknown record is not an absent one. */
function unanswered(origins: readonly VerifiedOrigin[]): string[] {
  const unknown = origins.filter(({ h3Offered }) => h3Offered.httpsRecord.state === 'unknown');
  if (unknown.length === 0) return [];
  const { detail } = unknown[0]!.h3Offered.httpsRecord;
  return [`HTTPS records: unknown for ${counted(unknown.length, 'origin')} (${detail})`];
}

function lossOf({ randomLoss }: Verification): string[] {
  if (!randomLoss) return [];
  const { packets, events, lost } = randomLoss;
  const range = poissonInterval(events).map((rate) => percent((rate * lost) / Math.max(1, events) / packets));
  if (events === 0) {
    const upper = percent(poissonInterval(0)[1] / packets);
    return [`Random loss: none in ${counted(packets, 'packet')}, so at most ${upper} (80% interval)`];
  }
  const burst = `${(lost / events).toFixed(1)} packets a burst`;
  return [
    `Random loss: ${percent(lost / packets)} (80% interval ${range.join(' to ')}), ${burst}; ${lost} of ${counted(packets, 'packet')} sent while the queue was not full`,
  ];
}

function spent({ bytes: all, budgetBytes, leftOut }: Verification): string {
  const without =
    leftOut > 0 ? `; ${counted(leftOut, 'resource')} left out of every round to stay within them` : '';
  return `${bytes(all)} of at most ${bytes(budgetBytes)} transferred${without}`;
}

function resourceRows(name: string, { rounds }: VerifiedProtocol, plan: TransferPlan): string[] {
  const inTheMiddle = rounds.toSorted((a, b) => a.totalMs - b.totalMs)[(rounds.length - 1) >> 1];
  if (!inTheMiddle) return [];
  return [
    '',
    `Under ${name}, milliseconds after the start:`,
    ...table([
      ['resource', 'status', 'version', 'bytes', 'start', 'DNS', 'connect', 'handshake', 'first byte', 'end'],
      ...inTheMiddle.transfers.map((one) => [
        shortened(plan.transfers[one.index]!.url),
        String(one.status || one.error),
        one.protocol ? PROTOCOL_NAME[one.protocol] : NONE,
        String(one.bytes),
        ...[one.startMs, one.dnsMs, one.connectMs, one.handshakeMs, one.firstByteMs, one.endMs].map(
          (value) => (value === null ? NONE : value.toFixed(0)),
        ),
      ]),
    ]).split('\n'),
  ];
}

function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : Math.max(0, to - from);
}

function shortened(whole: string): string {
  const url = removeUserinfo(whole);
  return url.length <= URL_WIDTH ? url : `${url.slice(0, URL_WIDTH - 23)}...${url.slice(-20)}`;
}

const ms = (value: number | null): string => (value === null ? NONE : `${value.toFixed(0)} ms`);
const fineMs = (value: number | null | undefined): string =>
  value == null ? NONE : `${value.toFixed(1)} ms`;
const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;
function bytes(number: number | null): string {
  if (number === null) return NONE;
  if (number < 10_000) return `${Math.round(number)} B`;
  return number < 1_000_000 ? `${Math.round(number / 1000)} kB` : `${(number / 1_000_000).toFixed(1)} MB`;
}
