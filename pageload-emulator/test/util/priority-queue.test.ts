import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PriorityQueue } from '../../src/util/priority-queue.ts';

it('always returns the first of its items', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (steps) => {
      const queue = new PriorityQueue<number>((a, b) => a < b);
      const model: number[] = [];
      for (const step of steps) {
        if (step === null) {
          model.sort((a, b) => a - b);
          expect(queue.shift()).toBe(model.shift());
        } else {
          queue.push(step);
          model.push(step);
        }
      }
    }),
  );
});
