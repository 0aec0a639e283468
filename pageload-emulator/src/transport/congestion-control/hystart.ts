import { PACKETS_PER_ACK, type Transport } from '../../network/packet.ts';
import type { Burst } from '../burst.ts';

/** HyStart does nothing below this window, packets (Ha and Rhee 2011; in Linux and quic-go). */
const LOW_WINDOW = 16;
/** RFC 9406 section 4.2: a rise by an eighth of the round trip, within these bounds, shows a queue. */
const MIN_RISE_MS = 4;
const MAX_RISE_MS = 16;
/** Round-trip samples needed in a round, one for each acknowledgement. */
const SAMPLES = 8;
/** Acknowledgements closer together than this belong to one train. */
const TRAIN_GAP_MS = 2;

/** A burst's evenly spaced acknowledgements. The round trip of its first packet is the shortest. */
type AckTrain = Pick<Burst, 'delivered' | 'firstRttMs' | 'firstAckMs' | 'ackMs' | 'ackGapMs'>;

/**
 * Hybrid slow start: ends slow start when the minimum of a round's first round-trip samples shows a queue and, in Linux's TCP,
 * when a train of acknowledgements has lasted half the minimum round trip (Ha and Rhee, "Taming the elephants", 2011, section
 * 3).
 */
export class HyStart {
  readonly #transport: Transport;
  #roundStartMs = -1;
  #trainAtMs = -1;
  #samples = 0;
  #roundRttMs = Number.POSITIVE_INFINITY;
  #foundQueue = false;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  startRound(nowMs: number): void {
    this.#roundStartMs = nowMs;
    this.#trainAtMs = nowMs;
    this.#samples = 0;
    this.#roundRttMs = Number.POSITIVE_INFINITY;
  }

  /**
   * @param window after the acknowledgements, packets
   * @returns whether slow start should end
   */
  exits(acks: AckTrain, minRttMs: number, window: number): boolean {
    // With a small window Linux takes no samples, while quic-go samples but does not exit.
    if (this.#transport === 'tcp' && window < LOW_WINDOW) return false;
    this.#sample(acks, minRttMs);
    if (window < LOW_WINDOW) return false;
    return this.#foundQueue || (this.#transport === 'tcp' && this.#inTrain(acks, minRttMs));
  }

  #sample({ delivered, firstRttMs: rttMs }: AckTrain, minRttMs: number): void {
    const before = this.#samples;
    this.#samples += Math.max(1, delivered / PACKETS_PER_ACK);
    if (this.#transport === 'tcp' || before < SAMPLES) this.#roundRttMs = Math.min(this.#roundRttMs, rttMs);
    const rise = Math.min(MAX_RISE_MS, Math.max(MIN_RISE_MS, minRttMs / 8));
    const enough = this.#transport === 'tcp' ? this.#samples > SAMPLES : this.#samples >= SAMPLES;
    if (enough && this.#roundRttMs > minRttMs + rise) this.#foundQueue = true;
  }

  #inTrain({ firstAckMs, ackMs, ackGapMs }: AckTrain, minRttMs: number): boolean {
    if (firstAckMs - this.#trainAtMs > TRAIN_GAP_MS || ackGapMs > TRAIN_GAP_MS) return false;
    this.#trainAtMs = ackMs;
    return ackMs - this.#roundStartMs > minRttMs / 2;
  }
}
