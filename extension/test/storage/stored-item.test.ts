import { afterEach, expect, test, vi } from 'vitest';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { StoredItem } from '../../src/storage/stored-item.ts';
import '../support/own-database.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const create = () => new StoredItem('own', 'count', (stored) => (stored === undefined ? 0 : Number(stored)));

test('is read once, however often it is needed', async () => {
  const get = vi.spyOn(ownStorage, 'get');
  const item = create();
  expect(await Promise.all([item.read(), item.read()])).toEqual([0, 0]);
  expect(await item.read()).toBe(0);
  expect(get).toHaveBeenCalledTimes(1);
});

test('what is written is read next, also by another context', async () => {
  const [item, other] = [create(), create()];
  expect([await item.read(), await other.read()]).toEqual([0, 0]);
  await item.write(3);
  expect([await item.read(), await other.read()]).toEqual([3, 3]);
  await other.remove();
  expect([await item.read(), await other.read()]).toEqual([0, 0]);
  await ownStorage.set({ count: 7, other: 1 });
  expect(await item.read()).toBe(7);
});

test('a change of another item leaves it as read', async () => {
  const get = vi.spyOn(ownStorage, 'get');
  const item = create();
  await item.read();
  await ownStorage.set({ other: 1 });
  await item.read();
  expect(get).toHaveBeenCalledTimes(1);
});

test('what cannot be read is tried again', async () => {
  const item = new StoredItem('own', 'count', (stored) => {
    if (typeof stored !== 'number') throw new Error('no number');
    return stored;
  });
  await expect(item.read()).rejects.toThrow('no number');
  await ownStorage.set({ count: 5 });
  expect(await item.read()).toBe(5);
});
