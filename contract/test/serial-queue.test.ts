import { setImmediate } from 'node:timers/promises';
import { SerialQueue } from '@hopwise/contract';
import { describe, expect, it, onTestFinished } from 'vitest';

describe('SerialQueue', () => {
  it('runs one task at a time, in the order given', async () => {
    const queue = new SerialQueue();
    const seen: string[] = [];
    const slow = async (name: string) => {
      seen.push(`${name} begins`);
      await setImmediate();
      seen.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([queue.run(() => slow('a')), queue.run(() => slow('b'))])).toEqual(['a', 'b']);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  it('takes tasks that return at once, and begins none within `run`', async () => {
    const queue = new SerialQueue();
    let begun = false;
    const outcome = queue.run(() => {
      begun = true;
      return 7;
    });
    expect(begun).toBe(false);
    expect(await outcome).toBe(7);
  });

  it('gives an error, thrown or rejected, to its own caller and runs the next task', async () => {
    const queue = new SerialQueue();
    const thrown = queue.run((): number => {
      throw new Error('thrown');
    });
    const rejected = queue.run(() => Promise.reject(new Error('rejected')));
    const next = queue.run(() => 'ran');
    await expect(thrown).rejects.toThrow('thrown');
    await expect(rejected).rejects.toThrow('rejected');
    expect(await next).toBe('ran');
  });

  it('leaves no rejection unhandled of a task that is not awaited', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const queue = new SerialQueue();
    void queue.run(() => Promise.reject(new Error('not awaited')));
    await queue.whenIdle();
    await setImmediate();
    expect(unhandled).toEqual([]);
  });

  it('counts tasks until they have ended', async () => {
    const queue = new SerialQueue();
    const outcomes = [
      queue.run(() => 1),
      queue.run(() => Promise.reject(new Error('failed'))),
      queue.run(() => 3),
    ];
    expect(queue.size).toBe(3);
    await outcomes[0];
    expect(queue.size).toBe(2);
    await Promise.allSettled(outcomes);
    expect(queue.size).toBe(0);
  });

  it('is idle when all given tasks have ended, be it with an error', async () => {
    const queue = new SerialQueue();
    await queue.whenIdle();
    const ended: number[] = [];
    for (const task of [1, 2, 3]) {
      void queue.run(async () => {
        await setImmediate();
        ended.push(task);
        if (task === 2) throw new Error('failed');
      });
    }
    await queue.whenIdle();
    expect(ended).toEqual([1, 2, 3]);
  });
});
