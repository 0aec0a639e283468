import type { Transport } from './congestion-control.ts';

/** Below this window, packets, nothing is concluded (Ha and Rhee 2011; Linux and quic-go alike). */
const LOW_WINDOW = 16;
/** RFC 9406 section 4.2: a rise of an eighth of the round trip, within these bounds, is a queue. */
const MIN_RISE_MS = 4;
const MAX_RISE_MS = 16;
/** Acknowledgements closer than this belong to one train. */
const TRAIN_GAP_MS = 2;

/**
 * Hybrid slow start: ends slow start when a round trip's first packets find a queue, and on Linux's
 * TCP also when a train of acknowledgements has lasted half of the shortest round trip (Ha and Rhee,
 * "Taming the elephants", 2011, section 3).
 */
export class HyStart {
  readonly #transport: Transport;
  #roundStartMs = -1;
  #trainAtMs = -1;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  startRound(nowMs: number): void {
    this.#roundStartMs = nowMs;
    this.#trainAtMs = nowMs;
  }

  /**
   * @param firstAckMs when the first packet of the acknowledged burst was acknowledged
   * @param ackGapMs time between two acknowledgements within the burst
   * @param firstRttMs round trip of its first packet
   * @returns whether slow start should end
   */
  exits(
    nowMs: number,
    firstAckMs: number,
    ackGapMs: number,
    firstRttMs: number,
    minRttMs: number,
    window: number,
    firstOfRound: boolean,
  ): boolean {
    const inTrain = firstAckMs - this.#trainAtMs <= TRAIN_GAP_MS && ackGapMs <= TRAIN_GAP_MS;
    if (inTrain) this.#trainAtMs = nowMs;
    if (window < LOW_WINDOW) return false;
    const rise = Math.min(MAX_RISE_MS, Math.max(MIN_RISE_MS, minRttMs / 8));
    if (firstOfRound && firstRttMs >= minRttMs + rise) return true;
    return this.#transport === 'tcp' && inTrain && nowMs - this.#roundStartMs > minRttMs / 2;
  }
}
