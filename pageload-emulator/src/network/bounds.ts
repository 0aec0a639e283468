/** The bounds of a network's figures: what a caller may give, and the least that is taken where a figure is worked out. */
import { SEGMENT_WIRE_BYTES } from './packet.ts';

/** Lowest and highest values that command lines and files may give, in their units. */
export const GIVEN_BOUNDS = {
  /** Milliseconds. */
  rtt: [0, 60_000],
  /** Any rate, Mbit/s. */
  mbps: [0.01, 10_000],
  /** Fraction per packet and direction. */
  loss: [0, 0.5],
  /** Packets. */
  lossBurst: [1, 1_000],
  /** Time that a full queue takes to drain, milliseconds. */
  queueMs: [1, 60_000],
} as const;

/** The queue of a network that a caller describes, bytes: no path works with less than two full packets. */
export const MIN_GIVEN_QUEUE_BYTES = 2 * SEGMENT_WIRE_BYTES;
/** The queue of a slow link whose drain time is estimated, bytes: the estimate may be short, yet ten packets find room. */
export const MIN_ESTIMATED_QUEUE_BYTES = 10 * SEGMENT_WIRE_BYTES;
/** The queue that is assumed where nothing shows it, bytes: 32 packets, however small the bandwidth-delay product. */
export const MIN_ASSUMED_QUEUE_BYTES = 32 * SEGMENT_WIRE_BYTES;

/** The round trip in a density, milliseconds: zero has no logarithm. */
export const MIN_DENSITY_RTT_MS = 0.01;
/** The round trip that phases of a recording show, milliseconds: a shorter phase measures the machine, not the network. */
export const MIN_RECORDED_RTT_MS = 0.1;
/** The round trip on which flights can be distinguished, milliseconds: on shorter paths the browser's own time looks like round trips. */
export const MIN_FLIGHTS_RTT_MS = 8;
