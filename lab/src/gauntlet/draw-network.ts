/** Networks of the gauntlet's cells. */
import { SEGMENT_WIRE_BYTES } from '@hopwise/pageload-emulator';
import type { LabNetwork } from '../client/networks.ts';
import type { SeededRandom } from '../random.ts';
import { drawFrom, type Range, type Split } from './splits.ts';

/** Ranges that the splits divide among themselves. */
export const NETWORK_RANGES = {
  rttMs: [5, 400],
  downMbps: [0.8, 200],
  /** Upstream rate over downstream rate. */
  upShare: [0.1, 1],
  loss: [0.0005, 0.03],
  lossBurst: [1.2, 5],
  /** Limit of the queue in multiples of rate × round trip. */
  queueBdp: [0.25, 4],
  policedMbps: [0.4, 6],
  udpLoss: [0.005, 0.06],
} as const satisfies Record<string, Range>;

/** Shares of networks. */
const WITHOUT_LOSS = 0.4;
const SINGLE_LOSSES = 0.5;
type UdpKind = 'open' | 'policed' | 'lossy' | 'blocked';
const UDP: readonly { kind: UdpKind; share: number }[] = [
  { kind: 'open', share: 0.55 },
  { kind: 'policed', share: 0.2 },
  { kind: 'lossy', share: 0.13 },
  { kind: 'blocked', share: 0.12 },
];

/** Eight full packets: a smaller queue drops some of every first flight of ten segments, and pages time out. */
const MIN_GAUNTLET_QUEUE_BYTES = 8 * SEGMENT_WIRE_BYTES;

export function drawNetwork(random: SeededRandom, split: Split, udp: UdpKind): LabNetwork {
  const draw = (figure: keyof typeof NETWORK_RANGES, digits: number) =>
    Number(drawFrom(random, split, NETWORK_RANGES[figure]).toPrecision(digits));
  const rttMs = draw('rttMs', 4);
  const downMbps = draw('downMbps', 4);
  const upMbps = Math.max(0.3, Number((downMbps * draw('upShare', 4)).toPrecision(4)));
  const hasLoss = random.fraction() >= WITHOUT_LOSS;
  const loss = hasLoss ? draw('loss', 4) : 0;
  const lossBurst = hasLoss && random.fraction() >= SINGLE_LOSSES ? draw('lossBurst', 4) : 1;
  const queueBytes = Math.round((draw('queueBdp', 4) * downMbps * 1e6 * rttMs) / 8e3);
  return {
    rttMs,
    downMbps,
    upMbps,
    loss,
    lossBurst,
    queue: { bytes: Math.max(MIN_GAUNTLET_QUEUE_BYTES, queueBytes) },
    ...drawUdp(udp, draw),
  };
}

function drawUdp(
  kind: UdpKind,
  draw: (figure: 'policedMbps' | 'udpLoss', digits: number) => number,
): Pick<LabNetwork, 'udp' | 'udpLoss'> {
  switch (kind) {
    case 'policed':
      return { udp: { policedMbps: draw('policedMbps', 4) } };
    case 'lossy':
      return { udp: 'open', udpLoss: draw('udpLoss', 4) };
    default:
      return { udp: kind };
  }
}

/** Drawn apart from the network: which networks suit a page depends on it. */
export function drawUdpKind(random: SeededRandom): UdpKind {
  const at = random.fraction();
  let sum = 0;
  for (const { kind, share } of UDP) {
    sum += share;
    if (at < sum) return kind;
  }
  return 'open';
}

/** The network in a few words. */
export function networkTitle({ rttMs, downMbps, loss, lossBurst, udp, udpLoss = 0 }: LabNetwork): string {
  const treatment = typeof udp === 'object' ? `policed at ${udp.policedMbps} Mbit/s` : udp;
  return [
    `${rttMs} ms`,
    `${downMbps} Mbit/s`,
    loss > 0 ? `${(100 * loss).toFixed(2)}% loss in runs of ${lossBurst}` : 'no loss',
    `UDP ${treatment}${udpLoss > 0 ? `, ${(100 * udpLoss).toFixed(1)}% of it lost` : ''}`,
  ].join(', ');
}
