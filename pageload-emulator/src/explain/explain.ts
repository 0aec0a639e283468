import type { Protocol, ProtocolPrediction, WaterfallEntry } from '@hopwise/contract';
import type { Choice } from '../choose/choose.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { loadPage } from '../scenarios/load-page.ts';
import { uniformAssignment } from '../scenarios/uniform.ts';
import { CAUSES, type Cause, type CriticalStep } from '../trace/critical-path.ts';
import type { TracedLoad } from '../trace/traced-load.ts';
import { type WorstHoldup, worstHoldup } from '../trace/worst-holdup.ts';
import { indexOfNearest } from '../util/statistics.ts';
import { holdupSentence } from './cause-sentences.ts';
import { english } from './sentences/english.ts';
import { count, withoutScheme } from './words.ts';

/** One connection of the explained load. Times are milliseconds after navigationStart. */
export interface ExplainedConnection {
  origin: string;
  openingMs: number;
  /** When its first request could leave; null when it never opened. */
  openMs: number | null;
  requests: number;
  /** `RecordedRequest.id` of each, in order of sending. */
  requestIds: number[];
  /** Response bytes. */
  bytes: number;
  /** Packets lost at random, dropped at the bottleneck's full queue, and dropped by a policer. */
  lost: { random: number; queue: number; policed: number };
  /** Losses that only a timer detected. */
  timeouts: number;
}

/** Why a page takes as long as it does under one protocol, shown by its load in the scenario of median load time. */
export interface ProtocolExplanation extends ProtocolPrediction {
  /** Load time of the explained load, which is emulated, milliseconds. */
  explainedPltMs: number;
  /** The explanation in English sentences. */
  story: string[];
  /** Milliseconds of the load time by cause, along the critical path. */
  causes: Record<Cause, number>;
  criticalPath: CriticalStep[];
  /** Connections that carried requests; browsers also open some in reserve. */
  connections: ExplainedConnection[];
  /** Load time without random loss, milliseconds; null when no packet was lost at random. */
  losslessPltMs: number | null;
  waterfall: WaterfallEntry[];
}

/** Explains one protocol's loads by an emulated one. @param time the answer's load time */
export function explainProtocol(
  graph: PageGraph,
  choice: Pick<Choice, 'uniform' | 'times' | 'scenarios' | 'traced'>,
  protocol: Protocol,
  time: ProtocolPrediction,
): ProtocolExplanation {
  const traced = choice.traced(protocol);
  const { load, trace, path, causes } = traced;
  const run = choice.uniform.find((candidate) => candidate.protocol === protocol)!;
  const scenario = choice.scenarios[indexOfNearest(run.pltMs, choice.times[protocol]!.pltMs)]!;
  const connections = connectionsOf(graph, traced);
  const lostAtRandom = connections.some(({ lost }) => lost.random > 0);
  const losslessPltMs = lostAtRandom
    ? loadPage(
        graph,
        { ...scenario, path: { ...scenario.path, loss: 0 } },
        uniformAssignment(graph, protocol),
      ).pltMs
    : null;
  return {
    ...time,
    explainedPltMs: load.pltMs,
    story: storyOf(protocol, load.pltMs, causes, connections, worstHoldup(graph, trace), losslessPltMs),
    causes,
    criticalPath: path,
    connections,
    losslessPltMs,
    waterfall: load.entries,
  };
}

function connectionsOf(graph: PageGraph, { trace }: TracedLoad): ExplainedConnection[] {
  const used = trace.connections.filter(({ requests }) => requests.length > 0);
  return used.map(({ openingMs, openMs, requests, lost, timeouts }) => {
    const fetches = requests.map((id) => graph.activities[id]!).filter((each) => each.kind === 'fetch');
    return {
      origin: graph.origins[fetches[0]!.origin]!,
      openingMs,
      openMs,
      requests: fetches.length,
      requestIds: fetches.map(({ requestId }) => requestId),
      bytes: Math.round(fetches.reduce((sum, { responseBytes }) => sum + responseBytes, 0)),
      lost,
      timeouts,
    };
  });
}

/** Names of the causes, as in "1200 ms waiting behind lost packets". */
export const CAUSE_WORDS: Record<Cause, string> = {
  page: 'waiting for the page itself',
  script: 'scripts and the main thread',
  turn: 'waiting for a turn',
  connect: 'connecting',
  roundTrip: 'round trips of requests',
  server: 'server processing',
  loss: 'waiting behind lost packets',
  transfer: 'transferring',
};

/** Causes below this share of the load time are not named. */
const MIN_CAUSE_SHARE = 0.02;

/** In milliseconds however long, as the tables that the story stands beside. */
const ms = (value: number): string => `${Math.round(value)} ms`;

function storyOf(
  protocol: Protocol,
  pltMs: number,
  causes: Record<Cause, number>,
  connections: readonly ExplainedConnection[],
  worst: WorstHoldup | null,
  losslessPltMs: number | null,
): string[] {
  const largest = CAUSES.filter((cause) => causes[cause] >= MIN_CAUSE_SHARE * pltMs)
    .sort((a, b) => causes[b] - causes[a])
    .map((cause) => `${ms(causes[cause])} ${CAUSE_WORDS[cause]}`);
  const origins = new Set(connections.map(({ origin }) => origin)).size;
  const story = [
    `One emulated load takes ${ms(pltMs)}: ${largest.join(', ')}.`,
    `${count(connections.length, 'connection')} to ${count(origins, 'origin')}${widest(protocol, connections)}.`,
  ];
  const sum = (of: (connection: ExplainedConnection) => number) =>
    connections.reduce((total, connection) => total + of(connection), 0);
  const random = sum(({ lost }) => lost.random);
  const queue = sum(({ lost }) => lost.queue);
  const policed = sum(({ lost }) => lost.policed);
  const timeouts = sum((connection) => connection.timeouts);
  if (random + queue + policed === 0) story.push('No packet is lost.');
  if (policed > 0) story.push(`The network holds UDP to a rate and drops ${count(policed, 'packet')}.`);
  if (queue > 0) story.push(`${count(queue, 'packet')} found the queue of the bottleneck full.`);
  if (random > 0 && losslessPltMs !== null) {
    const cost = pltMs - losslessPltMs;
    story.push(
      cost >= 1
        ? `${count(random, 'packet')} lost at random: without ${random === 1 ? 'it' : 'them'} the load would take ${ms(losslessPltMs)}, ${ms(cost)} less.`
        : `${count(random, 'packet')} lost at random: without ${random === 1 ? 'it' : 'them'} the load would not end sooner.`,
    );
  }
  if (timeouts > 0) story.push(`${count(timeouts, 'time')} a loss was noticed only by a timer.`);
  if (worst !== null && worst.held.length > 0) story.push(holdupSentence(worst, protocol, english));
  return story;
}

/** For HTTP/1.1, how many connections the origin with the most of them has. */
function widest(protocol: Protocol, connections: readonly ExplainedConnection[]): string {
  if (protocol !== 'h1') return '';
  const byOrigin = new Map<string, ExplainedConnection[]>();
  for (const connection of connections) {
    byOrigin.set(connection.origin, [...(byOrigin.get(connection.origin) ?? []), connection]);
  }
  const [widestOrigin] = [...byOrigin].sort((a, b) => b[1].length - a[1].length);
  if (widestOrigin === undefined || widestOrigin[1].length < 2) return '';
  const requests = widestOrigin[1].reduce((sum, connection) => sum + connection.requests, 0);
  return `, ${widestOrigin[1].length} of them to ${withoutScheme(widestOrigin[0])} for its ${count(requests, 'request')}`;
}
