import { expect, test, vi } from 'vitest';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { StoredItem } from '../../src/storage/stored-item.ts';
import '../support/own-database.ts';

test('keeps items by name, until they are removed', async () => {
  expect(await ownStorage.get('a')).toEqual({ a: undefined });
  await ownStorage.set({ a: { list: [1] }, b: 2, c: null });
  expect(await ownStorage.get('a')).toEqual({ a: { list: [1] } });
  await ownStorage.remove(['a', 'c']);
  expect(await ownStorage.get(null)).toEqual({ b: 2 });
});

test('reports a change that another page or worker has made, by name alone', async () => {
  vi.resetModules();
  const other = await import('../../src/storage/own-storage.ts');
  const heard = vi.fn();
  ownStorage.onChanged.addListener(heard);
  const item = new StoredItem('own', 'a', Number);
  expect(await item.read()).toBeNaN();
  await other.ownStorage.set({ a: 3 });
  await vi.waitFor(() => expect(heard).toHaveBeenCalledWith({ a: {} }));
  expect(await item.read()).toBe(3);
  await other.ownStorage.remove('a');
  await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(2));
  expect(await item.read()).toBeNaN();
});
