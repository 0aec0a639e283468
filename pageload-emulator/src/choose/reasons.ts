import type { NetworkPath, Protocol, ServerProfile } from '@hopwise/contract';
import type { Cause } from '../explain/critical-path.ts';
import { holdupSentence, worstHoldup } from '../explain/holdups.ts';
import type { TracedLoad } from '../explain/traced-load.ts';
import { count, ms, NAME, percent, round } from '../explain/words.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { OriginCounters } from '../http/origin-client.ts';
import type { UniformRun } from '../scenarios/uniform.ts';
import { median } from '../util/statistics.ts';

/** Waits shorter than this, milliseconds a request, explain nothing that a person would see. */
const NOTICEABLE_MS = 3;
/** What is less than this share of a lead does not explain it. */
const NOTICEABLE_SHARE = 0.1;
const MOST_REASONS = 3;

/** A protocol's loads with one of them looked into. */
export interface Contender {
  run: UniformRun;
  /** Median, milliseconds. */
  pltMs: number;
  traced: () => TracedLoad;
}

/** What all reasons are taken from. */
export interface Ground {
  graph: PageGraph;
  path: NetworkPath;
  servers: readonly ServerProfile[];
}

/** Why `best` wins the page against `rival`, or why nobody can be sure of it: sentences with the emulation's numbers. */
export function pageReasons(
  ground: Ground,
  best: Contender,
  rival: Contender,
  decided: boolean,
  confidence: number,
): string[] {
  const winner = best.run.protocol;
  const loser = rival.run.protocol;
  const gainMs = rival.pltMs - best.pltMs;
  if (gainMs < 0) {
    const worst = rival.run.pltMs.filter((time, scenario) => time > best.run.pltMs[scenario]!);
    return [
      `${NAME[loser]} has the lower median (${ms(rival.pltMs)}, ${NAME[winner]} ${ms(best.pltMs)}), but in ${percent(worst.length / rival.run.pltMs.length)} of the networks that this may be ` +
        `it is the slower one, at ${ms(median(worst))}: ${NAME[winner]} is the safer choice.`,
    ];
  }
  if (!decided) {
    return [
      `${NAME[winner]} (${ms(best.pltMs)}) and ${NAME[loser]} (${ms(rival.pltMs)}) ` +
        `differ by ${percent(gainMs / rival.pltMs)}, and the chance that ${NAME[winner]} is the fastest is ${percent(confidence)}.`,
    ];
  }
  const own = best.traced().causes;
  const other = rival.traced().causes;
  const saved = (Object.keys(own) as Cause[])
    .map((cause) => ({ cause, savedMs: other[cause] - own[cause] }))
    .filter(({ savedMs }) => savedMs >= Math.max(NOTICEABLE_MS, NOTICEABLE_SHARE * gainMs))
    .sort((a, b) => b.savedMs - a.savedMs)
    .slice(0, MOST_REASONS);
  const sentences = saved.flatMap(({ cause, savedMs }) => {
    const why = causeInWords(cause, ground, best, rival);
    return why === null ? [] : [`${NAME[winner]} saves ${ms(savedMs)} on the way to the load event: ${why}`];
  });
  if (rival.run.total.policed >= 1) sentences.unshift(policedInWords(rival.run.total));
  return sentences.length > 0 ? sentences : ['Many small differences add up; no single one stands out.'];
}

function causeInWords(
  cause: Cause,
  { graph, path, servers }: Ground,
  { run: best }: Contender,
  { run: rival, traced }: Contender,
): string | null {
  const { total: own, protocol: winner } = best;
  const { total: other, protocol: loser } = rival;
  switch (cause) {
    case 'connect':
      return connectInWords(winner, own, loser, other, path);
    case 'turn':
      return loser === 'h1' && other.waitedForConnection > 0
        ? turnInWords(other)
        : `requests wait longer for their turn on ${NAME[loser]}.`;
    case 'loss': {
      const worst = worstHoldup(graph, traced().trace);
      if (worst === null) return null;
      return worst.held.length === 0
        ? `on ${NAME[loser]} responses wait for their own lost packets.`
        : holdupSentence(worst, loser);
    }
    case 'transfer':
      return transferInWords(winner, own, loser, other, servers);
    case 'roundTrip':
    case 'server':
    case 'script':
    case 'page':
      // The same work on another path: it explains nothing.
      return null;
  }
}

const policedInWords = ({ policed }: OriginCounters): string =>
  `This network holds UDP to a fraction of its rate: it dropped ${count(policed, 'packet')} of HTTP/3.`;

const turnInWords = ({ waitedForConnection, connectionWaitMs }: OriginCounters): string =>
  `${count(waitedForConnection, 'request')} on HTTP/1.1 waited for one of six connections to be free, ${ms(connectionWaitMs / waitedForConnection)} each.`;

function connectInWords(
  winner: Protocol,
  own: OriginCounters,
  loser: Protocol,
  other: OriginCounters,
  path: NetworkPath,
): string {
  return winner === 'h3'
    ? `a connection is ready after 1 round trip of ${ms(path.rttMs)} instead of 2 on ${NAME[loser]}.`
    : `${count(other.connections, 'connection')} on ${NAME[loser]} instead of ${round(own.connections)} take more handshakes.`;
}

function transferInWords(
  winner: Protocol,
  own: OriginCounters,
  loser: Protocol,
  other: OriginCounters,
  servers: readonly ServerProfile[],
): string {
  const lost = other.lost + other.queueDrops;
  if (other.timeouts >= own.timeouts + 1) {
    return `${count(other.timeouts, 'time')} on ${NAME[loser]} a lost packet was noticed only by a timer (${round(own.timeouts)} on ${NAME[winner]}).`;
  }
  if (winner === 'h1' && lost >= 1) {
    return `a lost packet slows one of ${count(own.connections, 'connection')} instead of the only one: ${count(lost, 'packet')} lost on ${NAME[loser]}.`;
  }
  if (winner === 'h1') {
    return `${count(own.connections, 'connection')} start with that many windows, ${count(other.connections, 'connection')} of ${NAME[loser]} with fewer.`;
  }
  if (winner === 'h3') {
    const [server] = servers;
    const tcp = server?.tcp.initialWindow ?? 10;
    const quic = server?.quic.initialWindow ?? 10;
    if (quic > tcp) return `its server begins with ${quic} packets in flight, over TCP with ${tcp}.`;
  }
  return lost - own.lost - own.queueDrops >= 1
    ? `${count(lost, 'packet')} lost on ${NAME[loser]}, ${round(own.lost + own.queueDrops)} on ${NAME[winner]}.`
    : `what the page waits for is not held up by other responses on the link.`;
}

/** What an origin's recommendation rests on. */
export interface OriginCase {
  origin: string;
  protocol: Protocol;
  /** Next best; null when there is none to compare with. */
  rival: Protocol | null;
  /** Whether it offers nothing else. */
  only: boolean;
  /** Whether emulating it on other protocols was left out. */
  untried: boolean;
  /** Load time of the page with the origin on `rival` less that with it on `protocol`. */
  gainMs: number;
  pageMs: number;
  decided: boolean;
  requests: number;
  counters: Partial<Record<Protocol, OriginCounters>>;
  /** A load under a protocol, looked into. */
  traced: (protocol: Protocol) => TracedLoad | null;
}

/** One sentence on one origin. */
export function originReason(origin: OriginCase, { graph, path }: Ground): string {
  const { protocol, rival, gainMs, pageMs } = origin;
  if (origin.only) return `It offers ${NAME[protocol]} only.`;
  if (origin.untried) return 'Nothing else was tried for it: other origins move more bytes.';
  if (rival === null) {
    return `Its ${count(origin.requests, 'request')} could end much later without holding up the page.`;
  }
  const what = `its ${count(origin.requests, 'request')}`;
  if (!origin.decided) {
    const apartMs = Math.abs(gainMs);
    if (apartMs < pageMs / 100) return `The choice for ${what} moves the page by less than 1%.`;
    const [ahead, behind] = gainMs < 0 ? [rival, protocol] : [protocol, rival];
    return `${NAME[ahead]} for ${what} gains ${ms(apartMs)} (${percent(apartMs / pageMs)}) over ${NAME[behind]}, too little to be sure.`;
  }
  const own = origin.counters[protocol];
  const other = origin.counters[rival];
  const lead = `${NAME[protocol]} for ${what} loads the page ${ms(gainMs)} sooner than ${NAME[rival]}`;
  const why =
    own && other
      ? differences(protocol, own, rival, other, path, () => {
          const load = origin.traced(rival);
          const worst = load && worstHoldup(graph, load.trace, origin.origin);
          return worst && worst.held.length > 0 ? holdupSentence(worst, rival) : null;
        })[0]
      : undefined;
  return why === undefined ? `${lead}.` : `${lead}: ${why}`;
}

/** How the winner was spared what the other went through, the weightiest first. */
function differences(
  winner: Protocol,
  own: OriginCounters,
  loser: Protocol,
  other: OriginCounters,
  path: NetworkPath,
  holdup: () => string | null,
): string[] {
  const found: { weight: number; sentence: () => string }[] = [];
  const add = (weight: number, sentence: () => string) => {
    if (weight >= NOTICEABLE_MS) found.push({ weight, sentence });
  };
  const requests = Math.max(1, other.requests);
  if (other.policed >= 1) add(Number.POSITIVE_INFINITY, () => lower(policedInWords(other)));
  add((other.connectionWaitMs - own.connectionWaitMs) / requests, () => turnInWords(other));
  add((other.handshakeMs - own.handshakeMs) / requests, () =>
    connectInWords(winner, own, loser, other, path),
  );
  add(
    (other.blockedMs - own.blockedMs) / requests,
    () =>
      holdup() ??
      `${count(other.blockedStreams, 'response')} on ${NAME[loser]} waited behind another response's lost packet, ${ms(other.blockedMs / Math.max(1, other.blockedStreams))} each.`,
  );
  const lost = other.lost + other.queueDrops;
  if (winner === 'h1' && lost >= 1) {
    add(
      NOTICEABLE_MS,
      () =>
        `a lost packet slows one of ${count(own.connections, 'connection')} instead of the only one: ${count(lost, 'packet')} lost on ${NAME[loser]}.`,
    );
  }
  add(
    ((other.timeouts - own.timeouts) * 200) / requests,
    () =>
      `${count(other.timeouts, 'time')} on ${NAME[loser]} a lost packet was noticed only by a timer (${round(own.timeouts)} on ${NAME[winner]}).`,
  );
  return found.sort((a, b) => b.weight - a.weight).map(({ sentence }) => sentence());
}

const lower = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);
