/** The settings of single flows, drawn with a fixed seed: half for tuning, half for judging. */

import type { LabNetwork } from '@hopwise/lab/client/networks';
import { SeededRandom } from '@hopwise/lab/random';
import { SEGMENT_BYTES, SEGMENT_WIRE_BYTES } from '@hopwise/pageload-emulator';

/** The sender: the kernel's TCP with one of its congestion controls, or quic-go. */
export const SENDERS = ['cubic', 'bbr', 'quic'] as const;
export type FlowSender = (typeof SENDERS)[number];

/** The emulator may be tuned on the first half, never on the second. */
export const HALVES = ['tuning', 'judged'] as const;
export type Half = (typeof HALVES)[number];

export interface FlowCell {
  id: string;
  half: Half;
  sender: FlowSender;
  /** Bytes of the response's body. */
  bytes: number;
  /** Initial window of TCP, in segments; quic-go has its own. */
  initialWindow: number;
  network: LabNetwork;
  /** Approximate expected duration. */
  expectedMs: number;
}

export const FLOW_BYTES = [15_000, 60_000, 250_000, 1_000_000, 4_000_000, 12_000_000] as const;
export const FLOW_LOSSES = [0, 0.001, 0.01, 0.03] as const;

const RTTS_MS = [10, 30, 80, 200];
const DOWN_MBPS = [2, 8, 25, 60];
/** Multiples of rate × round trip. */
const QUEUES_BDP = [0.5, 1, 4];
/** Twenty full packets, as half the bandwidth-delay product of a slow link is less than one. */
const MIN_FLOW_QUEUE_BYTES = 20 * SEGMENT_WIRE_BYTES;
/** Loss rates of lossy links; every other one has bursts. */
const LOSS_BURSTS = [1, 4];
const INITIAL_WINDOWS = [10, 10, 10, 4, 32];
/** Longer flows are not drawn, to bound the bench's duration. */
const MAX_EXPECTED_MS = 12_000;
const DRAWS = 200;

/** One cell of each sender, size and loss for each half. */
export function flowGrid(): FlowCell[] {
  return HALVES.flatMap((half, index) => {
    const random = new SeededRandom(20_000 + index);
    return SENDERS.flatMap((sender) =>
      FLOW_LOSSES.flatMap((loss) => FLOW_BYTES.map((bytes) => drawCell(random, half, sender, bytes, loss))),
    );
  });
}

/** @throws {RangeError} where no link carries the flow in time. */
function drawCell(
  random: SeededRandom,
  half: Half,
  sender: FlowSender,
  bytes: number,
  loss: number,
): FlowCell {
  for (let draw = 0; draw < DRAWS; draw++) {
    const rttMs = random.pick(RTTS_MS);
    const downMbps = random.pick(DOWN_MBPS);
    const queueBdp = random.pick(QUEUES_BDP);
    const lossBurst = loss === 0 ? 1 : random.pick(LOSS_BURSTS);
    const initialWindow = sender === 'quic' ? 32 : random.pick(INITIAL_WINDOWS);
    const expectedMs = expectedTime(sender, bytes, rttMs, downMbps, loss / lossBurst);
    if (expectedMs > MAX_EXPECTED_MS) continue;
    const queue = { bytes: Math.max(MIN_FLOW_QUEUE_BYTES, Math.ceil(downMbps * 125 * rttMs * queueBdp)) };
    const network: LabNetwork = {
      rttMs,
      downMbps,
      upMbps: Math.max(1, downMbps / 4),
      loss,
      lossBurst,
      queue,
      udp: 'open',
    };
    const id = [
      half,
      sender,
      `${bytes / 1000}kB`,
      `${rttMs}ms`,
      `${downMbps}Mbps`,
      `q${queueBdp}`,
      `loss${loss}x${lossBurst}`,
      `iw${initialWindow}`,
    ].join('_');
    return { id, half, sender, bytes, initialWindow, network, expectedMs };
  }
  throw new RangeError(`no link carries ${bytes} bytes with ${loss} loss within ${MAX_EXPECTED_MS} ms`);
}

/** Handshake, slow start, then the link's rate or Mathis's formula (Mathis et al. 1997), which does not limit BBR. */
function expectedTime(
  sender: FlowSender,
  bytes: number,
  rttMs: number,
  downMbps: number,
  lossEvents: number,
): number {
  const linkMs = bytes / (downMbps * 125);
  const lossMs = sender === 'bbr' ? 0 : (bytes / SEGMENT_BYTES / 1.3) * rttMs * Math.sqrt(lossEvents);
  return 8 * rttMs + Math.max(linkMs, lossMs);
}
