import type { LabNetwork } from '@hopwise/lab/client/networks';
import { SeededRandom } from '@hopwise/lab/random';

/** Figures of the networks; each cell draws one of each. */
const DOWN_MBPS = [2, 10, 50];
const RTT_MS = [20, 60, 150];
const LOSS = [0, 0.001, 0.005, 0.01, 0.02];
const LOSS_BURST = [1, 1, 2, 3, 5];
const UDP = ['open', 'open', 'policed', 'lossy', 'blocked'] as const;

/** A policer's share of the rate, and the loss of UDP where it is lossier than TCP. */
const POLICED_SHARE = 0.15;
const UDP_LOSS = 0.03;
/** Time in which the full queue drains. */
const QUEUE_MS = 150;
/** Upstream rate over downstream rate. */
const UP_SHARE = 0.25;

export interface ProbeCell {
  /** Name of its file. */
  name: string;
  udp: (typeof UDP)[number];
  network: LabNetwork;
}

/**
 * Networks drawn at random. Losses take turns, so that each occurs equally often; the first cells of a longer list are those of a
 * shorter one.
 */
export function drawCells(cells: number, seed: number): ProbeCell[] {
  return Array.from({ length: cells }, (_, index) => {
    const random = new SeededRandom(1000 * seed + index);
    const udp = random.pick(UDP);
    const downMbps = random.pick(DOWN_MBPS);
    const loss = LOSS[index % LOSS.length]!;
    return {
      name: `${seed}-${index}`,
      udp,
      network: {
        rttMs: random.pick(RTT_MS),
        downMbps,
        upMbps: UP_SHARE * downMbps,
        loss,
        lossBurst: loss > 0 ? random.pick(LOSS_BURST) : 1,
        queue: { ms: QUEUE_MS },
        udp: udp === 'policed' ? { policedMbps: POLICED_SHARE * downMbps } : udp === 'blocked' ? udp : 'open',
        ...(udp === 'lossy' && { udpLoss: UDP_LOSS }),
        seed: 1 + index,
      },
    };
  });
}
