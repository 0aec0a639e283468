/**
 * The settings of ECON's figure 11 and table 5 (sections 6.3 and 7 of the paper); what the paper does not give is taken
 * from the scripts that its authors published (DavyCao/IMC19-ECON: http/decision_tree.sh, pythonScripts/videoModel.py and
 * calcTx.py) or assumed, as stated.
 */

import { type EconNetwork, lossBySegment } from '@hopwise/pageload-emulator/econ';
import type { Representation } from './video-bitrate.ts';

/** One of sixteen: two round trips, sizes, numbers of objects and losses (section 6.3). */
export interface HttpScenario {
  rttMs: number;
  objectBytes: number;
  objects: number;
  /** 0.001% and 0.01%. */
  loss: number;
}

export const HTTP_SCENARIOS: HttpScenario[] = [50, 200].flatMap((rttMs) =>
  [10_000, 1_000_000].flatMap((objectBytes) =>
    [10, 500].flatMap((objects) => [1e-5, 1e-4].map((loss) => ({ rttMs, objectBytes, objects, loss }))),
  ),
);

/**
 * Assumed: 100 Mbit/s behind one bandwidth-delay product of queue, two round trips of handshake (TCP and TLS 1.3). The
 * script has Cubic's default and an initial window of 10 segments.
 */
export function networkOf({ rttMs, loss }: HttpScenario): EconNetwork {
  const downBps = 100e6;
  return {
    rttMs,
    downBps,
    queueBytes: (downBps / 8_000) * rttMs,
    loss: () => lossBySegment(loss),
    congestionControl: 'cubic',
    initialWindow: 10,
    handshakeRounds: 2,
  };
}

/** Round trips of the four video cases (table 5). */
export const VIDEO_RTTS_MS = [50, 100, 150, 200];
/** Section 7. */
export const VIDEO_LOSS = 1e-2;
/** The segment's sizes, from the authors' script, and its playing time (section 7). */
export const VIDEO_SIZES: Representation[] = [
  { name: '1080p', bytes: 1_086_980 },
  { name: '720p', bytes: 527_676 },
  { name: '480p', bytes: 306_003 },
  { name: '360p', bytes: 244_931 },
];
export const VIDEO_SEGMENT_MS = 3_100;
