import type { StoredLoad } from '@hopwise/extension/messages';
import { describe, expect, it } from 'vitest';
import { type ExtensionRecorder, recordPage } from '../../src/start/record.ts';

/** Loads of which the first ones are disturbed, each in a browser of its own. */
function machine(disturbed: number) {
  const closed: number[] = [];
  const repeats: (readonly string[])[] = [];
  let opened = 0;
  const open = async () => {
    const id = ++opened;
    const recorder: ExtensionRecorder & { id: number } = {
      id,
      observe: async (_url, { onLoadEvent }) => {
        await onLoadEvent?.();
        return { id } as unknown as StoredLoad;
      },
      close: async () => {
        closed.push(id);
      },
    };
    return recorder;
  };
  let watched = 0;
  const watch = async () => {
    const foreignCpu = ++watched <= disturbed ? 0.5 : 0;
    return { end: async () => ({ latenessMs: 0, foreignCpu, windowMs: 1_000 }) };
  };
  const onRepeat = (reasons: readonly string[]) => repeats.push(reasons);
  return { options: { open, watch, onRepeat, timeoutMs: 1_000 }, closed, repeats };
}

const WHY = 'other processes took 500 ms of processor time in 1000 ms';

describe('a recording that predictions rest on', () => {
  it('is made once on a quiet machine', async () => {
    const { options, closed, repeats } = machine(0);
    const { session, load, warnings } = await recordPage('https://a.test/', options);
    expect([session.id, load, warnings, closed, repeats]).toEqual([1, { id: 1 }, [], [], []]);
  });

  it('is made again in a fresh browser where it was disturbed', async () => {
    const { options, closed, repeats } = machine(1);
    const { session, load, warnings } = await recordPage('https://a.test/', options);
    expect([session.id, load, warnings, closed, repeats]).toEqual([2, { id: 2 }, [], [1], [[WHY]]]);
  });

  it('is kept with a warning on a machine that is never quiet', async () => {
    const { options, closed } = machine(Number.POSITIVE_INFINITY);
    const { session, warnings } = await recordPage('https://a.test/', options);
    expect([session.id, closed]).toEqual([3, [1, 2]]);
    expect(warnings).toEqual([`the recorded load was disturbed, and predictions rest on it: ${WHY}`]);
  });

  it('is kept at once where that is wanted', async () => {
    const { options, repeats } = machine(Number.POSITIVE_INFINITY);
    const { session, warnings } = await recordPage('https://a.test/', { ...options, keepDisturbed: true });
    expect([session.id, repeats]).toEqual([1, []]);
    expect(warnings).toHaveLength(1);
  });

  it('is as it is where nothing is watched', async () => {
    const { options } = machine(1);
    const { session } = await recordPage('https://a.test/', { ...options, watch: null });
    expect(session.id).toBe(1);
  });
});
