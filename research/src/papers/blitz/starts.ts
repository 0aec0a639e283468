/** What the slides on Blitz start measured, and how it is measured here. */

import type { FlowServer } from '@hopwise/bench/flows/transfers';
import type { SiteServerChange } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import type { ServerStack } from '@hopwise/lab/client/server-stack';

/** The links of the slides' evaluation; they give one rate and one buffer for both directions. */
export const LINKS = [
  { name: 'slow DSL', rttMs: 50, mbps: 25, bufferMs: 50 },
  { name: 'fast DSL', rttMs: 50, mbps: 50, bufferMs: 50 },
  { name: '3G', rttMs: 90, mbps: 8, bufferMs: 200 },
  { name: 'LTE', rttMs: 70, mbps: 32, bufferMs: 200 },
] as const;
export type Link = (typeof LINKS)[number];

/** Sizes of the measured responses. */
export const SHORT_BYTES = 70_000;
export const LONG_BYTES = 2_000_000;
/** Size of the response to the request that announces the rate. */
export const ANNOUNCING_BYTES = 1000;

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
  { bytes: LONG_BYTES, factor: 1.5 },
  { bytes: LONG_BYTES, factor: 3 },
  { bytes: LONG_BYTES, factor: 4 },
];

/** The rival's window in the slides, Google QUIC's, in packets. */
export const SLOW_START_WINDOW = 32;
const PACKET_BYTES = 1500;
/**
 * When the measured flow begins, after the other one: in six phases of Cubic's cycle. Six are the fewest whose median has a 95%
 * interval; the slides have 30 flows.
 */
export const BEGINS_MS = [3_000, 4_000, 5_000, 6_000, 7_000, 8_000] as const;

export const FLOW = 'https://flow.test';
export const OTHER = 'https://other.test';
export const OTHER_BYTES = 100_000_000;

/** Who sends: the kernel's TCP or quiche, both paced by their window. */
export type StartSender = 'kernel' | 'quiche';

interface SenderSetting {
  protocol: FlowServer['protocol'];
  stack: ServerStack;
  /** Window of the other flow, packets. */
  otherWindow(link: Link): number;
}

export const SENDERS: Record<StartSender, SenderSetting> = {
  kernel: {
    protocol: 'h1',
    stack: 'go',
    // Fills link and queue at once, so that it takes no time to reach its equilibrium.
    otherWindow: ({ mbps, rttMs, bufferMs }) => startWindow({ mbps, rttMs: rttMs + bufferMs }, 1),
  },
  quiche: { protocol: 'h3', stack: 'nginx-quiche', otherWindow: () => SLOW_START_WINDOW },
};

/** Above every link's rate, so that a window is spread over its round trip and nothing else limits the rate. */
export const PACED: Pick<SiteServerChange, 'pacingMbps'> = { pacingMbps: 10_000 };

/** @returns packets of a round trip at a rate, as Blitz start's server computes its window */
export function startWindow({ mbps, rttMs }: { mbps: number; rttMs: number }, factor: number): number {
  return Math.max(2, Math.round((factor * mbps * 125 * rttMs) / PACKET_BYTES));
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
