import { PACKETS_PER_ACK } from '../network/packet.ts';
import type { Burst } from './burst.ts';
import { BURST_SHARE } from './burst-size.ts';
import type { Acknowledged } from './congestion-control/congestion-control.ts';
import type { EventHandler, EventQueue } from './event-queue.ts';

/** Acknowledgements within this share of a round trip after others are processed with them. */
const JOIN_SHARE = 1 / 32;

/**
 * The acknowledgements on their way to a sender: when they come and what they say. The sender is woken for them only while it
 * waits for one; else it takes what has arrived when it sends next.
 */
export class AckClock {
  /** Packets whose arrival is still to be acknowledged: when there are none, only a timer can continue. */
  arriving = 0;
  /** What the burst that was taken last says. Reused: callees do not keep it. */
  readonly ack: Acknowledged = {
    atMs: 0,
    packets: 0,
    minRttMs: 0,
    windowLimited: true,
    rttMs: 0,
    inFlight: 0,
    lost: 0,
    delivered: 0,
    deliveredWhenSent: 0,
    rate: 0,
    appLimited: false,
  };
  readonly #events: EventQueue;
  readonly #sender: EventHandler;
  readonly #kind: number;
  readonly #baseRttMs: number;
  /** Bursts whose acknowledgements are on their way, in order. */
  #first: Burst | null = null;
  #last: Burst | null = null;
  #isAwaited = false;
  #isScheduled = false;

  /**
   * @param sender is woken by an event of this `kind`, and must then call `wake`
   * @param baseRttMs round trip without queueing
   */
  constructor(events: EventQueue, sender: EventHandler, kind: number, baseRttMs: number) {
    this.#events = events;
    this.#sender = sender;
    this.#kind = kind;
    this.#baseRttMs = baseRttMs;
  }

  /** Whether the sender waits for an acknowledgement and none will come. */
  get isStalled(): boolean {
    return this.arriving === 0 && this.#isAwaited;
  }

  /** Adds a burst, the last of whose acknowledgements arrives at `atMs`. */
  add(burst: Burst, atMs: number): void {
    burst.ackMs = atMs;
    burst.firstAckMs = burst.allAcksLost
      ? atMs
      : atMs - burst.ackGapMs * (Math.ceil(burst.delivered / PACKETS_PER_ACK) - 1);
    if (this.#first === null) this.#first = burst;
    else this.#last!.next = burst;
    this.#last = burst;
    if (this.#isAwaited) this.#schedule();
  }

  /** Sets whether the sender waits for the next acknowledgement. */
  await(isAwaited: boolean): void {
    this.#isAwaited = isAwaited;
    if (isAwaited) this.#schedule();
  }

  wake(): void {
    this.#isScheduled = false;
  }

  /** Takes the first burst if all its acknowledgements have arrived, else null. */
  takeArrived(): Burst | null {
    const burst = this.#first;
    return burst === null || burst.ackMs > this.#events.now ? null : this.#take(burst);
  }

  /**
   * Takes the first burst if its first acknowledgement has arrived, or closely follows those taken before; else null.
   *
   * @param untilMs when the last acknowledgement of those taken before arrives; now if none was
   * @param mayFollow whether one that is still on its way counts
   */
  takeNoticed(untilMs: number, mayFollow: boolean): Burst | null {
    const burst = this.#first;
    if (burst === null) return null;
    const { now } = this.#events;
    const noticedMs = noticedMsOf(burst);
    if (noticedMs <= now) return this.#take(burst);
    const follows =
      mayFollow &&
      untilMs !== now &&
      noticedMs <= untilMs + JOIN_SHARE * this.#baseRttMs &&
      burst.ackMs <= now + BURST_SHARE * this.#baseRttMs;
    return follows ? this.#take(burst) : null;
  }

  #take(burst: Burst): Burst {
    this.#first = burst.next;
    if (!burst.allAcksLost) this.arriving -= burst.delivered;
    this.ack.atMs = burst.ackMs;
    this.ack.packets = burst.delivered * burst.share;
    return burst;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#first === null) return;
    this.#isScheduled = true;
    this.#events.schedule(noticedMsOf(this.#first), this.#sender, this.#kind);
  }
}

/** When a burst's acknowledgements open the window; losses show only with the last of them. */
function noticedMsOf(burst: Burst): number {
  return burst.whole ? burst.firstAckMs : burst.ackMs;
}
