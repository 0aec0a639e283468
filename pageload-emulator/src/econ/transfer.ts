import type { Agenda } from './agenda.ts';

/** A response being sent, in segments; over HTTP/2 responses share segments, so that parts of segments occur. */
export class Transfer {
  readonly urgency: number;
  readonly #agenda: Agenda;
  readonly #segments: number;
  /** Actions for when a part of it has arrived, in the order of the parts. */
  readonly #marks: { fraction: number; action: () => void }[];
  #sent = 0;
  #delivered = 0;

  constructor(
    agenda: Agenda,
    segments: number,
    urgency: number,
    marks: readonly { fraction: number; action: () => void }[],
  ) {
    this.#agenda = agenda;
    this.#segments = segments;
    this.urgency = urgency;
    this.#marks = [...marks].sort((a, b) => a.fraction - b.fraction);
  }

  get unsent(): number {
    return this.#segments - this.#sent;
  }

  /** Takes up to `room` segments for sending. */
  take(room: number): number {
    const count = Math.min(room, this.unsent);
    this.#sent = count === this.unsent ? this.#segments : this.#sent + count;
    return count;
  }

  /** The next `count` segments arrive, evenly from one time to the other. */
  deliver(count: number, fromMs: number, toMs: number): void {
    const before = this.#delivered;
    this.#delivered += count;
    const whole = this.#delivered > this.#segments - 1e-6;
    for (let mark = this.#marks[0]; mark; mark = this.#marks[0]) {
      const at = mark.fraction * this.#segments;
      if (!whole && at > this.#delivered) return;
      this.#marks.shift();
      const part = count > 0 ? Math.min(1, Math.max(0, (at - before) / count)) : 1;
      this.#agenda.at(fromMs + part * (toMs - fromMs), mark.action);
    }
  }
}
