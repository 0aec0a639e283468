import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Hello } from '../../src/helper/helper-connection.ts';
import { HelperError } from '../../src/helper/helper-port.ts';
import { HelperWatch } from '../../src/helper/helper-watch.ts';

const MISSING = new HelperError('no-helper', () => 'not installed');
const HELLO = {} as Hello;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a missing helper is looked for again by itself, and not once it is there', async () => {
  const greet = vi.fn(async (): Promise<Hello> => {
    throw MISSING;
  });
  const watch = new HelperWatch(greet);
  const changes: boolean[] = [];
  watch.onChange(() => changes.push(watch.isMissing));
  expect(watch.isMissing).toBe(false);
  await watch.lookOnce();
  await watch.lookOnce();
  expect(greet).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(4000);
  expect(greet).toHaveBeenCalledTimes(3);
  greet.mockResolvedValue(HELLO);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(greet).toHaveBeenCalledTimes(4);
  expect(changes).toEqual([true, false]);
  expect(watch.hello).toBe(HELLO);
});

test('a hidden page does not look', async () => {
  const greet = vi.fn(async (): Promise<Hello> => {
    throw MISSING;
  });
  await new HelperWatch(greet).look();
  vi.stubGlobal('document', { hidden: true });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(greet).toHaveBeenCalledTimes(1);
});

test('a helper that fails otherwise is not missing, and its problem is reported', async () => {
  const watch = new HelperWatch(async () => {
    throw new HelperError('version', () => 'Update the helper.');
  });
  await watch.look();
  expect([watch.isMissing, watch.problem]).toEqual([false, 'Update the helper.']);
});
