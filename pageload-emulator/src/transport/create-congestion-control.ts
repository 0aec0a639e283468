import type { CongestionControl as Algorithm } from '../path/network-path.ts';
import { Bbr } from './bbr.ts';
import type { CongestionControl, Transport } from './congestion-control.ts';
import { Cubic } from './cubic.ts';
import { Reno } from './reno.ts';

/** @param initialWindow packets */
export function createCongestionControl(
  algorithm: Algorithm,
  transport: Transport,
  initialWindow: number,
): CongestionControl {
  if (algorithm === 'cubic') return new Cubic(initialWindow);
  if (algorithm === 'reno') return new Reno(initialWindow, transport);
  return new Bbr(initialWindow);
}
