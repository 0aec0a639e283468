import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lab, labObstacle, type ServerChange } from '@hopwise/lab/client/lab';
import { type LabNetwork, toNetworkPath } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { type MedianInterval, medianInterval } from '@hopwise/lab/median-interval';
import type { Site } from '@hopwise/lab/sites/site';
import { writeSite } from '@hopwise/lab/sites/write-site';
import { median } from '@hopwise/lab/statistics';
import { emulate, type PageGraph, type ServerProfile } from '@hopwise/pageload-emulator';
import { EndlessTransfer, type FlowServer, makeTransfers } from '../../flows/transfers.ts';

/** The links of the slides' evaluation; they give one rate and one buffer for both directions. */
export const LINKS = [
  { name: 'slow DSL', rttMs: 50, mbps: 25, bufferMs: 50 },
  { name: 'fast DSL', rttMs: 50, mbps: 50, bufferMs: 50 },
  { name: '3G', rttMs: 90, mbps: 8, bufferMs: 200 },
  { name: 'LTE', rttMs: 70, mbps: 32, bufferMs: 200 },
] as const;
export type Link = (typeof LINKS)[number];

export const SHORT_BYTES = 70_000;
export const LONG_BYTES = 2_000_000;

/** A size, and the rate that the server starts at as a multiple of the link's; null for slow start. */
export interface Start {
  bytes: number;
  factor: number | null;
}

export const STARTS: readonly Start[] = [
  { bytes: SHORT_BYTES, factor: null },
  { bytes: SHORT_BYTES, factor: 1 },
  { bytes: LONG_BYTES, factor: null },
  { bytes: LONG_BYTES, factor: 0.5 },
  { bytes: LONG_BYTES, factor: 1 },
  { bytes: LONG_BYTES, factor: 4 },
];

/** The rival's window in the slides, Google QUIC's, in packets. */
const SLOW_START_WINDOW = 32;
const PACKET_BYTES = 1500;
/** Above every link's rate: TCP paces, and nothing but its window limits the rate. */
const UNLIMITED_MBPS = 10_000;
/** Bytes; half of it is above the largest window that a server starts with. The kernel's default of 128 kB would limit the others. */
const RECEIVE_BUFFER = 4_000_000;

/**
 * When the measured flow begins, after the other one: in six phases of Cubic's cycle. Six are the fewest whose median has a 95%
 * interval; the slides have 30 flows.
 */
const BEGINS_MS = [3_000, 4_000, 5_000, 6_000, 7_000, 8_000] as const;

const FLOW: FlowServer = { origin: 'https://flow.test', protocol: 'h1' };
const OTHER: FlowServer = { origin: 'https://other.test', protocol: 'h1' };
const OTHER_BYTES = 100_000_000;
const OTHER_TIMES = 200;

/** One transfer from its connection's begin, beside another flow on the link. */
export interface StartedFlow {
  timeMs: number;
  /** Packets of both flows that the queue dropped meanwhile. */
  drops: number;
}

/** Flows of one size on one link, by round. */
export interface StartTimes {
  link: Link['name'];
  start: Start;
  flows: StartedFlow[];
  /** What the emulator gives, milliseconds. */
  emulatedMs: number;
}

/**
 * The kernel's TCP beside a flow that already uses the link, by the rate that the server starts at.
 *
 * The server's route sets the window (rate × round trip) and its socket the rate (`SO_MAX_PACING_RATE`), which stays its highest
 * one: the kernel cannot begin in congestion avoidance, as the slides' QUIC does.
 *
 * @returns why this machine has no lab, or the flows by link and start
 */
export async function measureStarts(seed: number, context: ProgramContext): Promise<string | StartTimes[]> {
  const obstacle = await labObstacle();
  if (obstacle !== null) return obstacle;
  const { cleanup, say } = context;
  const scratch = await makeScratch('run');
  cleanup.add('the site of the flows', () => removeScratch(scratch));
  const site = join(scratch, 'site');
  await writeSite({ site: startSite(), files: new Map() }, site);
  const times: StartTimes[] = [];
  for (const link of LINKS) {
    const own = await measureLink(site, link, seed, context);
    for (const { start, flows, emulatedMs } of own) {
      const timeMs = median(flows.map((flow) => flow.timeMs));
      say(
        `${link.name}, ${start.bytes / 1000} kB, ${nameOf(start)}: ${Math.round(timeMs)} ms, ${median(flows.map(({ drops }) => drops))} drops; emulated ${Math.round(emulatedMs)} ms`,
      );
    }
    times.push(...own);
  }
  return times;
}

const nameOf = ({ factor }: Start): string => (factor === null ? 'slow start' : `${factor} × the rate`);

async function measureLink(
  site: string,
  link: Link,
  seed: number,
  { cleanup, signal }: ProgramContext,
): Promise<StartTimes[]> {
  const network = networkOf(link);
  const lab = await Lab.up({
    site,
    network: { ...network, seed },
    aheadOfOthers: true,
    receiveBuffer: RECEIVE_BUFFER,
    signal,
  });
  cleanup.add('the lab', () => lab.down());
  await lab.configureServers({
    [OTHER.origin]: { initialWindow: otherWindow(link), pacingMbps: UNLIMITED_MBPS },
  });
  const flows = STARTS.map((): StartedFlow[] => []);
  for (const beginMs of BEGINS_MS) {
    for (const [index, start] of STARTS.entries()) {
      signal.throwIfAborted();
      await lab.configureServers({ [FLOW.origin]: serverOf(link, start) });
      await lab.drain();
      const other = await EndlessTransfer.start(lab, OTHER, OTHER_BYTES, OTHER_TIMES, signal);
      cleanup.add('the other flow', () => other.stop());
      await sleep(beginMs, undefined, { signal });
      await lab.resetStats();
      const [transfer] = await makeTransfers(lab, FLOW, [start.bytes], signal);
      const { down } = await lab.stats();
      if (transfer!.unfinished || !other.isRunning)
        throw new UserError(`${link.name}: of two flows of the kernel, one ended too early or not at all`);
      await other.stop();
      flows[index]!.push({ timeMs: transfer!.totalMs, drops: down.drops.queue });
    }
  }
  await lab.down();
  return STARTS.map((start, index) => ({
    link: link.name,
    start,
    flows: flows[index]!,
    emulatedMs: emulateStart(link, start),
  }));
}

/** The window with which the other flow fills link and queue at once, so that it takes no time to reach its equilibrium. */
const otherWindow = ({ mbps, rttMs, bufferMs }: Link): number =>
  startWindow({ mbps, rttMs: rttMs + bufferMs }, 1);

/** @returns packets of a round trip at a rate, as Blitz start's server computes its window */
export function startWindow({ mbps, rttMs }: { mbps: number; rttMs: number }, factor: number): number {
  return Math.max(2, Math.round((factor * mbps * 125 * rttMs) / PACKET_BYTES));
}

function serverOf(link: Link, { factor }: Start): ServerChange {
  if (factor === null) return { initialWindow: SLOW_START_WINDOW, pacingMbps: UNLIMITED_MBPS };
  return { initialWindow: startWindow(link, factor), pacingMbps: factor * link.mbps };
}

export function networkOf({ rttMs, mbps, bufferMs }: Link): LabNetwork {
  return {
    rttMs,
    downMbps: mbps,
    upMbps: mbps,
    loss: 0,
    lossBurst: 1,
    queue: { ms: bufferMs },
    udp: 'open',
  };
}

function startSite(): Site {
  const server = { protocols: ['h1' as const], extraRttMs: 0, initialWindow: SLOW_START_WINDOW };
  const body = (origin: string, bytes: number): Site['resources'][number] => ({
    origin,
    path: `/${bytes}`,
    status: 200,
    headers: {},
    body: { filler: 'bytes', bytes },
    thinkMs: 0,
  });
  return {
    format: 'hopwise-site',
    version: 1,
    name: 'start rates',
    entry: `${FLOW.origin}/${SHORT_BYTES}`,
    origins: [
      { ...server, origin: FLOW.origin },
      { ...server, origin: OTHER.origin },
    ],
    resources: [
      body(FLOW.origin, SHORT_BYTES),
      body(FLOW.origin, LONG_BYTES),
      body(OTHER.origin, OTHER_BYTES),
    ],
  };
}

/** The emulator's time of the flow beside another one: the median over when it begins. */
export function emulateStart(link: Link, start: Start): number {
  const path = toNetworkPath(networkOf(link));
  const servers = [
    emulatedServer(OTHER.origin, { initialWindow: otherWindow(link) }),
    emulatedServer(FLOW.origin, start.factor === null ? {} : { startBps: start.factor * link.mbps * 1e6 }),
  ];
  const assignment = { [OTHER.origin]: 'h1', [FLOW.origin]: 'h1' } as const;
  const times = BEGINS_MS.map(
    (beginMs) => emulate(besideOther(start.bytes, beginMs), path, servers, assignment).pltMs - beginMs,
  );
  return median(times);
}

function emulatedServer(origin: string, own: Partial<ServerProfile['tcp']>): ServerProfile {
  const sending = { initialWindow: SLOW_START_WINDOW, congestionControl: 'cubic' as const, ...own };
  return {
    origin,
    extraRttMs: 0,
    thinkMs: 0,
    tcp: sending,
    quic: sending,
    tlsVersion: '1.3',
    offers: { h1: true, h2: true, h3: true },
  };
}

/** A page that waits for the flow alone, which begins while the other one is in progress. */
function besideOther(bytes: number, beginMs: number): PageGraph {
  const fetch = (id: number, origin: number, responseBytes: number, delayMs: number) => ({
    kind: 'fetch' as const,
    id,
    requestId: id,
    url: `${[OTHER, FLOW][origin]!.origin}/${responseBytes}`,
    origin,
    type: 'fetch' as const,
    requestBytes: 110,
    responseBytes,
    blocksLoad: origin === 1,
    renderBlocking: false,
    urgency: 0,
    incremental: false,
    after: [],
    delayMs,
  });
  return {
    url: `${OTHER.origin}/`,
    origins: [OTHER.origin, FLOW.origin],
    activities: [fetch(0, 0, OTHER_BYTES, 0), fetch(1, 1, bytes, beginMs)],
  };
}

/** How a start differs from slow start, over flows of one size on one link. */
export interface StartGain {
  link: Link;
  /** Milliseconds less than after slow start, by round: median, and the interval that holds it with 95%. */
  gainMs: MedianInterval;
  /** Median time after slow start over that of the start. */
  speedup: number;
  /** Median drops after slow start, and of the start. */
  drops: { slowStart: number; start: number };
  emulatedGainMs: number;
}

/** @throws RangeError where a link lacks the flows of the start, or those after slow start */
export function gainsOf(times: readonly StartTimes[], bytes: number, factor: number): StartGain[] {
  const find = (link: Link, wanted: number | null): StartTimes => {
    const found = times.find(
      (each) => each.link === link.name && each.start.bytes === bytes && each.start.factor === wanted,
    );
    if (found === undefined) throw new RangeError(`${link.name}: no flows of ${bytes} bytes at ${wanted}`);
    return found;
  };
  return LINKS.map((link) => {
    const slow = find(link, null);
    const started = find(link, factor);
    const medianOf = ({ flows }: StartTimes, key: keyof StartedFlow) =>
      median(flows.map((flow) => flow[key]));
    return {
      link,
      gainMs: medianInterval(started.flows.map(({ timeMs }, round) => slow.flows[round]!.timeMs - timeMs)),
      speedup: medianOf(slow, 'timeMs') / medianOf(started, 'timeMs'),
      drops: { slowStart: medianOf(slow, 'drops'), start: medianOf(started, 'drops') },
      emulatedGainMs: slow.emulatedMs - started.emulatedMs,
    };
  });
}
