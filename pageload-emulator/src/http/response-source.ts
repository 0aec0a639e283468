import type { ResponseSource } from '../transport/connection.ts';
import type { Segment, Stream } from '../transport/stream.ts';

const URGENCIES = 8;

/**
 * Whose response bytes go next on a shared connection, by RFC 9218 section 10: the lowest urgency
 * first; within it, responses that are useful only whole one after the other in order of
 * request, before incremental ones, which take turns.
 *
 * A server that ignores priorities lets all responses take turns.
 */
export class PrioritySource implements ResponseSource {
  readonly #honoured: boolean;
  readonly #whole: Stream[][] = Array.from({ length: URGENCIES }, () => []);
  readonly #inTurns: Stream[][] = Array.from({ length: URGENCIES }, () => []);
  #size = 0;

  /** @param honoured whether the server goes by the client's priorities */
  constructor(honoured: boolean) {
    this.#honoured = honoured;
  }

  get empty(): boolean {
    return this.#size === 0;
  }

  add(stream: Stream): void {
    this.#size++;
    if (!this.#honoured) this.#inTurns[0]!.push(stream);
    else if (stream.incremental) this.#inTurns[stream.urgency]!.push(stream);
    // A response that becomes ready late still goes by the order of its request.
    else insertInOrder(this.#whole[stream.urgency]!, stream);
  }

  take(room: number, packetBytes: number): Segment | null {
    if (this.#size === 0) return null;
    for (let urgency = 0; urgency < URGENCIES; urgency++) {
      const whole = this.#whole[urgency]!;
      if (whole.length > 0) return this.#cut(whole, whole[0]!, room, false);
      const turns = this.#inTurns[urgency]!;
      if (turns.length > 0) {
        const share = Math.max(packetBytes, Math.ceil(room / turns.length));
        return this.#cut(turns, turns[0]!, Math.min(room, share), true);
      }
    }
    return null;
  }

  #cut(queue: Stream[], stream: Stream, room: number, turns: boolean): Segment {
    const bytes = Math.min(room, stream.unsent);
    stream.unsent -= bytes;
    if (stream.unsent === 0) {
      queue.shift();
      this.#size--;
    } else if (turns) {
      queue.shift();
      queue.push(stream);
    }
    return { stream, bytes, offset: 0, heldSinceMs: 0 };
  }
}

/** HTTP/1.1 has one response at a time on a connection. */
export class SingleSource implements ResponseSource {
  #stream: Stream | null = null;

  get empty(): boolean {
    return this.#stream === null;
  }

  add(stream: Stream): void {
    this.#stream = stream;
  }

  take(room: number): Segment | null {
    const stream = this.#stream;
    if (stream === null) return null;
    const bytes = Math.min(room, stream.unsent);
    stream.unsent -= bytes;
    if (stream.unsent === 0) this.#stream = null;
    return { stream, bytes, offset: 0, heldSinceMs: 0 };
  }
}

function insertInOrder(queue: Stream[], stream: Stream): void {
  let at = queue.length;
  while (at > 0 && queue[at - 1]!.id > stream.id) at--;
  if (at === queue.length) queue.push(stream);
  else queue.splice(at, 0, stream);
}
