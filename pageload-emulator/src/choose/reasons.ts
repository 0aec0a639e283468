import type { OriginCounters } from '../http/origin-client.ts';
import type { NetworkPath } from '../path/network-path.ts';
import type { Protocol } from '../protocol.ts';
import { median } from '../statistics.ts';
import type { UniformRun } from './uniform.ts';

const NAME: Record<Protocol, string> = { h1: 'HTTP/1.1', h2: 'HTTP/2', h3: 'HTTP/3' };

/** Waits shorter than this, milliseconds a request, explain nothing that a person would see. */
const NOTICEABLE_MS = 3;

/** Why `best` wins the page against `rival`, or why nobody can be sure of it: sentences with the emulation's numbers. */
export function pageReasons(
  best: UniformRun,
  rival: UniformRun,
  path: NetworkPath,
  decided: boolean,
  confidence: number,
): string[] {
  const bestMs = median(best.pltMs);
  const rivalMs = median(rival.pltMs);
  const gainMs = rivalMs - bestMs;
  if (!decided) {
    return [
      `${NAME[best.protocol]} (${ms(bestMs)}) and ${NAME[rival.protocol]} (${ms(rivalMs)}) ` +
        `differ by ${ms(gainMs)} (${percent(gainMs / rivalMs)}), and the chance that ${NAME[best.protocol]} is the fastest is ${percent(confidence)}.`,
    ];
  }
  const why = differences(best.protocol, best.total, rival.protocol, rival.total, path);
  return why.length > 0 ? why : ['Many small differences add up; no single one stands out.'];
}

/** What an origin's recommendation rests on. */
export interface OriginCase {
  protocol: Protocol;
  /** Next best; null when there is none to compare with. */
  rival: Protocol | null;
  /** Whether it offers nothing else. */
  only: boolean;
  /** Load time of the page with the origin on `rival` less that with it on `protocol`. */
  gainMs: number;
  pageMs: number;
  decided: boolean;
  requests: number;
  counters: Partial<Record<Protocol, OriginCounters>>;
}

/** One sentence on one origin. */
export function originReason(origin: OriginCase, path: NetworkPath): string {
  const { protocol, rival, gainMs, pageMs } = origin;
  if (origin.only) return `It offers ${NAME[protocol]} only.`;
  if (rival === null) {
    return `Its ${count(origin.requests, 'request')} could end much later without holding up the page.`;
  }
  if (!origin.decided) {
    return gainMs < pageMs / 100
      ? `The choice for its ${count(origin.requests, 'request')} moves the page by less than 1%.`
      : `${NAME[protocol]} gains ${ms(gainMs)} (${percent(gainMs / pageMs)}) over ${NAME[rival]}, too little to be sure.`;
  }
  const own = origin.counters[protocol];
  const other = origin.counters[rival];
  const lead = `${NAME[protocol]} here loads the page ${ms(gainMs)} sooner than ${NAME[rival]}`;
  const why = own && other ? differences(protocol, own, rival, other, path)[0] : undefined;
  return why === undefined ? `${lead}.` : `${lead}: ${why.charAt(0).toLowerCase() + why.slice(1)}`;
}

/** How the winner was spared what the other went through, the weightiest first. */
function differences(
  winner: Protocol,
  own: OriginCounters,
  loser: Protocol,
  other: OriginCounters,
  path: NetworkPath,
): string[] {
  const found: { weight: number; sentence: string }[] = [];
  const add = (weight: number, sentence: string) => {
    if (weight >= NOTICEABLE_MS) found.push({ weight, sentence });
  };
  const requests = Math.max(1, other.requests);

  if (other.policed >= 1) {
    add(
      Number.POSITIVE_INFINITY,
      `This network holds UDP to a fraction of its rate: it dropped ${count(other.policed, 'packet')} of HTTP/3.`,
    );
  }
  add(
    (other.connectionWaitMs - own.connectionWaitMs) / requests,
    `${count(other.waitedForConnection, 'request')} on ${NAME[loser]} waited for one of six connections to be free, ${ms(other.connectionWaitMs / Math.max(1, other.waitedForConnection))} each.`,
  );
  const handshakeSaved = other.handshakeMs - own.handshakeMs;
  add(
    handshakeSaved / requests,
    winner === 'h3'
      ? `A connection is ready after 1 round trip of ${ms(path.rttMs)} instead of 2, which saves ${count(other.waitedForHandshake, 'request')} ${ms(handshakeSaved)} of waiting in all.`
      : `${count(other.connections, 'connection')} on ${NAME[loser]} instead of ${round(own.connections)} cost ${ms(handshakeSaved)} more of waiting for handshakes.`,
  );
  add(
    (other.blockedMs - own.blockedMs) / requests,
    `${count(other.blockedStreams, 'response')} on ${NAME[loser]} waited behind another response's lost packet, ${ms(other.blockedMs / Math.max(1, other.blockedStreams))} each.`,
  );
  const lost = other.lost + other.queueDrops;
  if (winner === 'h1' && lost >= 1) {
    add(
      NOTICEABLE_MS,
      `A lost packet slows one of ${count(own.connections, 'connection')} instead of the only one: ${count(lost, 'packet')} lost on ${NAME[loser]}.`,
    );
  }
  add(
    ((other.timeouts - own.timeouts) * 200) / requests,
    `${count(other.timeouts, 'time')} on ${NAME[loser]} a lost packet was noticed only by a timer (${round(own.timeouts)} on ${NAME[winner]}).`,
  );
  if (winner === 'h3' && found.length === 0) {
    add(NOTICEABLE_MS, 'Its server begins with more packets in flight than a TCP server does.');
  }
  return found.sort((a, b) => b.weight - a.weight).map(({ sentence }) => sentence);
}

function ms(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** Counts are means over scenarios; what happened at all, happened once. */
function round(value: number): string {
  return String(value > 0 ? Math.max(1, Math.round(value)) : 0);
}

function count(value: number, noun: string): string {
  const number = round(value);
  return `${number} ${noun}${number === '1' ? '' : 's'}`;
}
