import type { RecordedRequest } from '@hopwise/contract';
import { firstIndexWhere } from '../util/ordered.ts';

/** The two responses that end last, or one alone; the first ends last of all. */
type LastTwo = readonly RecordedRequest[];

/** When the responses that went over the network ended. */
export class ResponseEnds {
  /** When each response began, in order. */
  readonly #beganMs: number[] = [];
  /** The last two to end of the responses that had begun by then, in the same order. */
  readonly #lastTwo: LastTwo[] = [];

  constructor(requests: readonly RecordedRequest[]) {
    const ordered = requests
      .filter(({ fromCache }) => !fromCache)
      .map((request) => ({ request, beganMs: request.phases.responseStartMs ?? request.startMs }))
      .sort((a, b) => a.beganMs - b.beganMs);
    for (const { request, beganMs } of ordered) {
      this.#beganMs.push(beganMs);
      this.#lastTwo.push(addTo(this.#lastTwo.at(-1) ?? [], request));
    }
  }

  /** Finds when the last other response ended that began before this one's end, milliseconds; minus infinity where there is none. */
  findLastBeside(request: RecordedRequest): number {
    const begun = firstIndexWhere(this.#beganMs, (ms) => ms >= request.endMs);
    const [last, beforeLast] = this.#lastTwo[begun - 1] ?? [];
    return (last === request ? beforeLast : last)?.endMs ?? Number.NEGATIVE_INFINITY;
  }
}

const addTo = (lastTwo: LastTwo, request: RecordedRequest): LastTwo =>
  [...lastTwo, request].sort((a, b) => b.endMs - a.endMs).slice(0, 2);
