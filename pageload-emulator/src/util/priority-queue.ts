/** A priority queue: a binary heap ordered by `precedes`. */
export class PriorityQueue<T> {
  readonly #heap: T[] = [];
  readonly #precedes: (a: T, b: T) => boolean;

  /** @param precedes whether `a` goes before `b`; a strict order, in which no two items are equal */
  constructor(precedes: (a: T, b: T) => boolean) {
    this.#precedes = precedes;
  }

  /** The first item; undefined when the queue is empty. */
  get first(): T | undefined {
    return this.#heap[0];
  }

  push(item: T): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#precedes(item, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = item;
  }

  /** Removes and returns the first item; undefined when the queue is empty. */
  shift(): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    const { length } = heap;
    if (length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#precedes(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#precedes(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
