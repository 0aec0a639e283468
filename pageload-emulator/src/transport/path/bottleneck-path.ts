/** The packets of a burst on their way along a path, and what becomes of them. Times are milliseconds after navigationStart. */
export class Passage {
  /** When the first packet sets out. */
  startMs = 0;
  /** Time from the first packet's setting out to the last one's. */
  spreadMs = 0;
  /** Size of each packet on the wire. */
  packetBytes = 0;
  /** Packets that have not been dropped so far. */
  packets = 0;
  /** Packets that a policer dropped. */
  policed = 0;
  /** Packets for which the queue had no room. */
  queueDrops = 0;
  /** Positions of the packets that were lost at random among those that the queue admitted, ascending; null when all arrive. */
  lost: readonly number[] | null = null;
  /** When the first and the last packet that the queue admitted leave the bottleneck. */
  firstLeavesMs = 0;
  leavesMs = 0;
}

/** One cause of loss or delay on a path. */
export interface PathElement {
  /** Lets a burst pass: removes the packets that it drops, and notes why. */
  pass(passage: Passage): void;
  /** Is called when a sender has heard nothing for as long as a timer runs. */
  settle?(): void;
}

/** The way of bursts through elements, one after the other: a policer, the bottleneck's queue, random loss. */
export class BottleneckPath {
  readonly #elements: readonly PathElement[];
  /** Reused for every burst: callers do not keep it. */
  readonly #passage = new Passage();

  constructor(...elements: PathElement[]) {
    this.#elements = elements;
  }

  /**
   * Sends the packets of a burst.
   *
   * @param spreadMs from the first packet's setting out at `startMs` to the last one's
   * @param packetBytes size of each on the wire
   * @returns what becomes of them, until the next call
   */
  send(startMs: number, spreadMs: number, packets: number, packetBytes: number): Passage {
    const passage = this.#passage;
    passage.startMs = startMs;
    passage.spreadMs = spreadMs;
    passage.packetBytes = packetBytes;
    passage.packets = packets;
    passage.policed = 0;
    passage.queueDrops = 0;
    passage.lost = null;
    const elements = this.#elements;
    for (let at = 0; at < elements.length; at++) elements[at]!.pass(passage);
    return passage;
  }

  settle(): void {
    for (const element of this.#elements) element.settle?.();
  }
}
