import { join } from 'node:path';
import { FlowLab, flowSite } from '@hopwise/bench/flows/flow-lab';
import type { FlowCell } from '@hopwise/bench/flows/grid';
import { median } from '@hopwise/contract';
import { labObstacle } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { writeSite } from '@hopwise/lab/sites/write-site';
import { lossBySegment } from '@hopwise/pageload-emulator/econ';
import { steadyThroughput } from '../../econ/steady-throughput.ts';
import { highestBitrate, type Representation } from '../../econ/video-bitrate.ts';
import { RIVALS } from './rivals.ts';

/** Table 5's round trips and loss (section 7), with the paper's ground truth and choices. */
export const VIDEO_RTTS_MS = [50, 100, 150, 200] as const;
const LOSS = 0.01;
/** Sizes of a video's segment, from the authors' script, and its playing time (section 7). */
const QUALITIES: readonly Representation[] = [
  { name: '1080p', bytes: 1_086_980 },
  { name: '720p', bytes: 527_676 },
  { name: '480p', bytes: 306_003 },
  { name: '360p', bytes: 244_931 },
];
const SEGMENT_MS = 3_100;
/** The rate of the paper's network is not stated; at this loss the round trip and not the link limits the flow. */
const MBPS = 50;

/** Segments before the first that counts, and rounds of all qualities after them. */
const WARM_UP = 5;
const ROUNDS = 5;
/** Segments that the rivals learn from. */
const HISTORY = 5;

/** Names of qualities; null where no segment arrives in time. */
export interface VideoCase {
  rttMs: number;
  /** The highest quality whose segments take less than they play, in the median. */
  truth: string | null;
  econ: string | null;
  /** What each rival chooses most often. */
  rivals: Record<keyof typeof RIVALS, string | null>;
}

/**
 * Segments of a video of all qualities one after the other on one connection of the kernel's Cubic, for each round trip of Table 5.
 *
 * @returns why this machine has no lab, or a case for each round trip
 */
export async function measureVideo(
  seed: number,
  { cleanup, signal, say }: ProgramContext,
): Promise<string | VideoCase[]> {
  const obstacle = await labObstacle();
  if (obstacle !== null) return obstacle;
  const scratch = await makeScratch('run');
  cleanup.add('the site of the segments', () => removeScratch(scratch));
  const site = join(scratch, 'site');
  await writeSite({ site: flowSite(QUALITIES.map(({ bytes }) => bytes)), files: new Map() }, site);
  const cells = VIDEO_RTTS_MS.map(cellOf);
  const lab = await FlowLab.up(site, cells[0]!, signal);
  cleanup.add('the lab', () => lab.down());
  const round = QUALITIES.map(({ bytes }) => bytes);
  const sizes = [
    ...Array<number>(WARM_UP).fill(round[1]!),
    ...Array.from({ length: ROUNDS }, () => round).flat(),
  ];
  const cases: VideoCase[] = [];
  for (const [index, cell] of cells.entries()) {
    signal.throwIfAborted();
    await lab.prepare(cell);
    const timesMs = await lab.measureStream(cell, seed * 1_000 + index, sizes);
    const found = judgeVideo(VIDEO_RTTS_MS[index]!, sizes, timesMs);
    say(`video at ${found.rttMs} ms: ${found.truth ?? 'none'} in time, ECON ${found.econ ?? 'none'}`);
    cases.push(found);
  }
  await lab.down();
  return cases;
}

/**
 * @param sizes bytes of the segments, in order; those after the warm-up in rounds of all qualities
 * @param timesMs of the same
 */
export function judgeVideo(rttMs: number, sizes: readonly number[], timesMs: readonly number[]): VideoCase {
  const rates = sizes.map((bytes, index) => bytes / timesMs[index]!);
  const inTime = QUALITIES.filter(({ bytes }) => {
    const own = timesMs.filter((_, index) => index >= WARM_UP && sizes[index] === bytes);
    return median(own) < SEGMENT_MS;
  });
  const choices = (rival: (typeof RIVALS)[keyof typeof RIVALS]) =>
    Array.from({ length: ROUNDS }, (_, round) => {
      const next = WARM_UP + round * QUALITIES.length;
      const rate = rival(rates.slice(next - HISTORY, next));
      return QUALITIES.find(({ bytes }) => bytes / rate < SEGMENT_MS)?.name ?? null;
    });
  return {
    rttMs,
    truth: inTime[0]?.name ?? null,
    econ: chooseByEcon(rttMs),
    rivals: Object.fromEntries(
      Object.entries(RIVALS).map(([name, rival]) => [name, mostFrequent(choices(rival))]),
    ) as VideoCase['rivals'],
  };
}

/** ECON's choice in mid-stream, where the connection has its mean window: it has no history. */
function chooseByEcon(rttMs: number): string | null {
  const conditions = { congestionControl: 'cubic' as const, rttMs, loss: lossBySegment(LOSS) };
  const window = Math.floor(steadyThroughput(conditions).segmentsPerMs * rttMs);
  return highestBitrate(QUALITIES, SEGMENT_MS, conditions, { window, ssthresh: window }).best?.name ?? null;
}

/** In how many cases each chooses the quality that is right. */
export function countRight(cases: readonly VideoCase[]): { econ: number; rivals: VideoRights } {
  const count = (choice: (each: VideoCase) => string | null) =>
    cases.filter((each) => choice(each) === each.truth).length;
  const names = Object.keys(RIVALS) as (keyof typeof RIVALS)[];
  return {
    econ: count(({ econ }) => econ),
    rivals: Object.fromEntries(
      names.map((name) => [name, count(({ rivals }) => rivals[name])]),
    ) as VideoRights,
  };
}

type VideoRights = Record<keyof typeof RIVALS, number>;

function cellOf(rttMs: number): FlowCell {
  const network: LabNetwork = {
    rttMs,
    downMbps: MBPS,
    upMbps: MBPS,
    loss: LOSS,
    lossBurst: 1,
    queue: { bdp: 1 },
    udp: 'open',
  };
  return {
    id: `table 5, ${rttMs} ms`,
    half: 'judged',
    sender: 'cubic',
    bytes: QUALITIES[0]!.bytes,
    initialWindow: 10,
    network,
    expectedMs: 0,
  };
}

function mostFrequent(values: readonly (string | null)[]): string | null {
  const count = (value: string | null) => values.filter((each) => each === value).length;
  return values.reduce((a, b) => (count(b) > count(a) ? b : a));
}
