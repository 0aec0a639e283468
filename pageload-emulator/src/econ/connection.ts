import type { Agenda } from './agenda.ts';
import type { LossByConnections } from './loss-by-connections.ts';
import type { SharedBottleneck } from './shared-bottleneck.ts';
import type { Transfer } from './transfer.ts';
import type { WindowWalk } from './window-walk.ts';

/** Part of a transfer in a burst: its segments from the burst's `first` on. */
interface Slice {
  transfer: Transfer;
  first: number;
  count: number;
}

/** What all connections share. */
export interface Path {
  agenda: Agenda;
  bottleneck: SharedBottleneck;
  loss: LossByConnections;
  /** Connections with segments in flight: ECON's npc. */
  busy: number;
}

/**
 * One TCP connection: bursts as its window allows, in the order of its transfers, and delivered in order: what is
 * behind a lost segment waits for it, whichever transfer it belongs to.
 */
export class ModelledConnection {
  readonly #path: Path;
  readonly #walk: WindowWalk;
  readonly #rttMs: number;
  readonly #transfers: Transfer[] = [];
  #inFlight = 0;
  #sends = false;
  /** Bursts in flight, and whether the window was full at any time since they were sent. */
  readonly #bursts = new Set<{ filled: boolean }>();
  /** Lost segments to be sent again, and what arrived behind them. */
  #missing = 0;
  #held: Slice[] = [];
  #lostSegments = 0;

  constructor(path: Path, walk: WindowWalk, rttMs: number) {
    this.#path = path;
    this.#walk = walk;
    this.#rttMs = rttMs;
  }

  /** Window, for choosing among idle connections. */
  get segments(): number {
    return this.#walk.segments;
  }

  /** Segments lost so far, those that were sent again and lost again included. */
  get lostSegments(): number {
    return this.#lostSegments;
  }

  /** Queues a response; those of lower urgency numbers go first, within one in their order. */
  respond(transfer: Transfer): void {
    const behind = this.#transfers.findIndex(({ urgency }) => urgency > transfer.urgency);
    this.#transfers.splice(behind < 0 ? this.#transfers.length : behind, 0, transfer);
    this.#sendSoon();
  }

  /** Sends after all other events of this time, so that responses to requests of the same time go in one burst. */
  #sendSoon(): void {
    if (this.#sends) return;
    this.#sends = true;
    this.#path.agenda.at(this.#path.agenda.nowMs, () => {
      this.#sends = false;
      this.#send();
    });
  }

  #send(): void {
    const available = this.#walk.segments - this.#inFlight;
    if (available <= 0) return;
    const again = Math.min(available, this.#missing);
    const slices = this.#take(available - again, again);
    const last = slices.at(-1);
    const count = last ? last.first + last.count : again;
    if (count === 0) return;
    const { agenda, bottleneck } = this.#path;
    const burst = { filled: false };
    this.#bursts.add(burst);
    if (count >= available && (this.#transfers.length > 0 || this.#missing > again)) {
      for (const inFlight of this.#bursts) inFlight.filled = true;
    }
    if (this.#inFlight === 0) this.#path.busy++;
    this.#inFlight += count;
    const segments = Math.ceil(count);
    const { startMs, fits } = bottleneck.pass(agenda.nowMs, segments);
    const outcome = this.#walk.send(segments, fits, { loss: this.#path.loss(this.#path.busy) });
    const arrivedMs = (segment: number) => startMs + this.#rttMs + segment / bottleneck.segmentsPerMs;
    const arrives = outcome.firstLost === 0 ? count : outcome.firstLost - 1;
    if (this.#missing === again && arrives >= again) {
      for (const { transfer, count: held } of this.#held) {
        transfer.deliver(held, arrivedMs(again), arrivedMs(again));
      }
      this.#held = [];
      for (const slice of slices) this.#deliver(slice, arrives, arrivedMs);
    } else this.#held.push(...slices);
    this.#missing += outcome.lost - again;
    this.#lostSegments += outcome.lost;

    const roundMs = startMs + this.#rttMs - agenda.nowMs;
    agenda.at(startMs + this.#rttMs, () => {
      this.#inFlight -= count;
      if (this.#inFlight < 1e-9) {
        this.#inFlight = 0;
        this.#path.busy--;
      }
      bottleneck.release(fits);
      this.#bursts.delete(burst);
      this.#walk.acknowledge(segments, outcome, burst.filled, roundMs);
      this.#sendSoon();
    });
  }

  /** Fills `room` segments of a burst, after its first `from`. */
  #take(room: number, from: number): Slice[] {
    const slices: Slice[] = [];
    let first = from;
    while (first < from + room && this.#transfers.length > 0) {
      const transfer = this.#transfers[0]!;
      const count = transfer.take(from + room - first);
      slices.push({ transfer, first, count });
      first += count;
      if (transfer.unsent === 0) this.#transfers.shift();
    }
    return slices;
  }

  /** Delivers what lies within the first `arrives` segments of a burst; the rest waits for what is missing. */
  #deliver({ transfer, first, count }: Slice, arrives: number, arrivedMs: (segment: number) => number): void {
    const now = Math.max(0, Math.min(count, arrives - first));
    if (now > 0) transfer.deliver(now, arrivedMs(first), arrivedMs(first + now));
    if (now < count) this.#held.push({ transfer, first, count: count - now });
  }
}
