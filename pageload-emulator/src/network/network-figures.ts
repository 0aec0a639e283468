import type { NetworkPath, UdpNotation } from '@hopwise/contract';
import { MIN_GIVEN_QUEUE_BYTES } from './bounds.ts';
import { udpTreatment } from './udp-notation.ts';

/** A network's figures in the units of command lines. */
export interface NetworkFigures {
  rttMs: number;
  downMbps: number;
  upMbps: number;
  /** Random loss per packet and direction, a fraction. */
  loss: number;
  /** Mean length of a burst of losses, packets. */
  lossBurst: number;
  /** Time that a full queue takes to drain. */
  queueMs: number;
  /** A number is the rate to which UDP is held, Mbit/s. */
  udp: Exclude<UdpNotation, 'lossy'>;
}

/** The path that a network's figures describe. */
export function toPath(figures: NetworkFigures): NetworkPath {
  const { rttMs, downMbps, upMbps, loss, lossBurst, queueMs, udp } = figures;
  const downBps = downMbps * 1e6;
  return {
    rttMs,
    downBps,
    upBps: upMbps * 1e6,
    loss,
    lossBurst,
    queueBytes: Math.max(MIN_GIVEN_QUEUE_BYTES, Math.round((queueMs / 8000) * downBps)),
    udp: udpTreatment(udp),
  };
}
