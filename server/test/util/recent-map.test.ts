import { expect, it } from 'vitest';
import { RecentMap } from '../../src/util/recent-map.ts';

it('keeps the last entries and a bounded number of them', () => {
  const map = new RecentMap<number>(100);
  for (let index = 0; index < 10_000; index++) map.set(String(index), index);
  for (let index = 9900; index < 10_000; index++) expect(map.get(String(index))).toBe(index);
  expect(map.has('9700')).toBe(false);
  expect([...map.values()].length).toBeLessThanOrEqual(200);
});

it('has one value of a key, the last, until it is deleted', () => {
  const map = new RecentMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect(map.get('a')).toBe(3);
  expect([...map.values()].sort()).toEqual([2, 3]);
  expect(map.delete('a')).toBe(true);
  expect(map.has('a')).toBe(false);
  expect(map.delete('a')).toBe(false);
});
