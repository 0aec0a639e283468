/**
 * The settings of ECON's figure 11 and table 5, as far as they are known, from the scripts that its authors published
 * (DavyCao/IMC19-ECON: http/decision_tree.sh, pythonScripts/videoModel.py and calcTx.py). What the paper printed for
 * them, which protocol and which bitrate were best, was not to be had: nothing here is a figure of the paper's.
 */

import { lossBySegment } from '../../src/econ/loss-by-segment.ts';
import type { EconNetwork } from '../../src/econ/page-load.ts';
import type { Representation } from '../../src/econ/video-bitrate.ts';

/** One of sixteen: two round trips, sizes, numbers of objects and losses, from the authors' script. */
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
 * Ours: 100 Mbit/s behind one bandwidth-delay product of queue, two round trips of handshake (TCP and TLS 1.3). The
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

/** Round trips of the four video cases; the authors' files are named after them. */
export const VIDEO_RTTS_MS = [50, 100, 150, 200];
/** Those names end in e2, which we read as 1e-2: with it the four cases call for different qualities. */
export const VIDEO_LOSS = 1e-2;
/** The segment's sizes and playing time, from the authors' script. */
export const VIDEO_SIZES: Representation[] = [
  { name: '1080p', bytes: 1_086_980 },
  { name: '720p', bytes: 527_676 },
  { name: '480p', bytes: 306_003 },
  { name: '360p', bytes: 244_931 },
];
export const VIDEO_SEGMENT_MS = 3_100;
