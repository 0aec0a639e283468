/**
 * Times hopwise's emulation and Lantern's simulation of the same page graphs, taking turns in one run: both warm, both from a
 * prepared graph, on the same network and servers.
 */

import { median } from '@hopwise/contract';
import {
  type Assignment,
  buildGraph,
  emulate,
  estimateNetwork,
  type PageGraph,
  PROTOCOLS,
  type Recording,
} from '@hopwise/pageload-emulator';
import { lanternGraph, runLantern } from '../accuracy/lantern.ts';

/** Warm-up time, measured time and minimum number of rounds for each of the two. */
const WARM_UP_MS = 300;
const MEASURED_MS = 400;
const MIN_ROUNDS = 7;

/** Protocols that Lantern simulates. */
const LANTERN_PROTOCOLS = ['h1', 'h2'] as const;

/** Times are milliseconds of the processor for one load under one protocol. */
export interface LanternTimes {
  page: string;
  requests: number;
  origins: number;
  hopwise: number[];
  lantern: number[];
}

/** hopwise's times are means over HTTP/1.1, HTTP/2 and HTTP/3, Lantern's over the two that it models. */
export function besideLantern(page: string, recording: Recording): LanternTimes {
  const graph = buildGraph(recording);
  const { path, servers } = estimateNetwork(recording);
  const assignments = PROTOCOLS.map((protocol) => uniform(graph, protocol));
  const nodes = LANTERN_PROTOCOLS.map((protocol) => lanternGraph(graph, recording, protocol));
  const runHopwise = () => {
    for (const assignment of assignments) emulate(graph, path, servers, assignment);
  };
  const runOther = () => {
    for (const each of nodes) runLantern(each, graph, servers, path);
  };
  warmUp(runHopwise);
  warmUp(runOther);
  const hopwise: number[] = [];
  const lantern: number[] = [];
  for (let spent = 0; spent < 2 * MEASURED_MS || lantern.length < MIN_ROUNDS; ) {
    const own = timeOf(runHopwise);
    const other = timeOf(runOther);
    hopwise.push(own / assignments.length);
    lantern.push(other / nodes.length);
    spent += own + other;
  }
  const requests = graph.activities.filter(({ kind }) => kind === 'fetch').length;
  return { page, requests, origins: graph.origins.length, hopwise, lantern };
}

/** Lantern's time over hopwise's. */
export function ratioOf({ hopwise, lantern }: LanternTimes): number {
  return median(lantern) / median(hopwise);
}

function uniform(graph: PageGraph, protocol: (typeof PROTOCOLS)[number]): Assignment {
  return Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
}

function warmUp(run: () => void): void {
  for (const startMs = processorMs(); processorMs() - startMs < WARM_UP_MS; ) run();
}

function timeOf(run: () => void): number {
  const startMs = processorMs();
  run();
  return processorMs() - startMs;
}

/** Processor time: equals elapsed time on an idle machine and excludes other work on a busy one. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
