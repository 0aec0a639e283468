import type { CongestionControl as Algorithm } from '@hopwise/contract';
import type { Transport } from '../../network/packet.ts';
import { Bbr } from './bbr.ts';
import type { CongestionAlgorithm } from './congestion-control.ts';
import { Cubic } from './cubic.ts';
import { Hybla } from './hybla.ts';
import { QuicheCubic } from './quiche-cubic.ts';
import { Reno } from './reno.ts';

/** Creates the algorithm of that name. @param initialWindow packets */
export function createCongestionControl(
  algorithm: Algorithm,
  transport: Transport,
  initialWindow: number,
): CongestionAlgorithm {
  switch (algorithm) {
    case 'cubic':
      return new Cubic(initialWindow);
    case 'quiche-cubic':
      return transport === 'quic' ? new QuicheCubic(initialWindow) : new Cubic(initialWindow);
    case 'reno':
      return new Reno(initialWindow, transport);
    case 'hybla':
      return new Hybla(initialWindow);
    case 'bbr':
      return new Bbr(initialWindow);
  }
}
