import type { NetworkPath } from '@hopwise/contract';
import type { Transport } from '../../network/packet.ts';
import { hashSeed } from '../../util/random.ts';
import { BottleneckPath, type PathElement } from './bottleneck-path.ts';
import { BottleneckQueue } from './bottleneck-queue.ts';
import { BurstLoss, JointLoss, type LossProcess } from './loss.ts';
import { Policer } from './policer.ts';

/** Random loss of each direction. */
export interface LossOfBothWays {
  down: LossProcess;
  up: LossProcess;
}

/** The state of the path that all connections of a load share: both bottlenecks, random loss, a policer of UDP. */
export class SharedPath {
  /** Round trip without queueing to the nearest origin, milliseconds. */
  readonly rttMs: number;
  readonly down: BottleneckQueue;
  readonly up: BottleneckQueue;
  /** Random losses by transport, shared by all its connections: a burst of losses hits any connection that sends at that time. */
  readonly loss: Record<Transport, LossOfBothWays>;
  /** What a server's bursts pass on their way to the client, by transport. */
  readonly bursts: Record<Transport, BottleneckPath>;
  /** What single packets pass that a server repeats: a policer is taken to let one pass after a timer's wait. */
  readonly repeats: Record<Transport, BottleneckPath>;

  /** @param seed of the losses */
  constructor({ rttMs, downBps, upBps, queueBytes, udp, ...lossOfPath }: NetworkPath, seed: number) {
    this.rttMs = rttMs;
    this.down = new BottleneckQueue(downBps, queueBytes);
    this.up = new BottleneckQueue(upBps, Number.POSITIVE_INFINITY);
    this.loss = lossByTransport(lossOfPath, udp, seed);
    const through = (transport: Transport, ...before: PathElement[]) =>
      new BottleneckPath(...before, this.down, this.loss[transport].down);
    this.repeats = { tcp: through('tcp'), quic: through('quic') };
    this.bursts =
      udp.kind === 'policed'
        ? { ...this.repeats, quic: through('quic', new Policer(udp.bps, udp.burstBytes)) }
        : this.repeats;
  }
}

/** Creates the processes of loss. Protocols are compared on common random numbers: they depend on the seed, not on the protocol. */
function lossByTransport(
  { loss, lossBurst }: Pick<NetworkPath, 'loss' | 'lossBurst'>,
  udp: NetworkPath['udp'],
  seed: number,
): Record<Transport, LossOfBothWays> {
  const ofPath = (way: number) => new BurstLoss(loss, lossBurst, hashSeed(seed, way));
  const tcp = { down: ofPath(0), up: ofPath(1) };
  if (udp.kind !== 'lossy') return { tcp, quic: tcp };
  // What loses UDP alone, such as a policer or a filter, drops single packets.
  const ofUdp = (way: number) => new BurstLoss(udp.loss, 1, hashSeed(seed, 2 + way));
  return { tcp, quic: { down: new JointLoss(ofPath(0), ofUdp(0)), up: new JointLoss(ofPath(1), ofUdp(1)) } };
}
