import { expect, it } from 'vitest';
import { ByteBudget } from '../../src/probe/byte-budget.ts';
import { planOf } from '../support/server.ts';

const KB = 1000;

/** The document, and resources of these sizes that wait for it. */
function pageOf(...sizes: number[]) {
  const { transfers } = planOf(sizes.map((_, index) => `https://a.test/${index}`));
  for (const [index, bytes] of sizes.entries()) transfers[index]!.bytes = bytes;
  return transfers;
}

it('is three times the page by default', () => {
  const page = pageOf(100 * KB, 400 * KB);
  expect(new ByteBudget(null, page)).toMatchObject({ budgetBytes: 1500 * KB, given: false });
  expect(new ByteBudget(123, page)).toMatchObject({ budgetBytes: 123, given: true });
  // For a small page a handshake's worth of headers is more than the page; of a huge one enough is enough.
  expect(new ByteBudget(null, pageOf(1 * KB)).budgetBytes).toBe(65_536);
  expect(new ByteBudget(null, pageOf(1e9)).budgetBytes).toBe(200_000_000);
});

it('allows one load of the page for each kind of round beyond three', () => {
  const page = pageOf(100 * KB, 400 * KB);
  const byDefault = new ByteBudget(null, page);
  byDefault.allowRounds(5);
  expect(byDefault.budgetBytes).toBe(2500 * KB);
  byDefault.allowRounds(2);
  expect(byDefault.budgetBytes).toBe(1500 * KB);
  const given = new ByteBudget(123, page);
  given.allowRounds(5);
  expect(given.budgetBytes).toBe(123);
});

it('learns the size of an unknown page from its first round', () => {
  const byteBudget = new ByteBudget(null, pageOf(0, 0));
  expect(byteBudget.budgetBytes).toBe(200_000_000);
  byteBudget.spentBytes = 50 * KB;
  byteBudget.learn();
  expect(byteBudget).toMatchObject({ budgetBytes: 150 * KB, leftBytes: 100 * KB });
  const given = new ByteBudget(1000, pageOf(0));
  given.spentBytes = 400;
  given.learn();
  expect(given.leftBytes).toBe(600);
});

it('leaves nothing out while all fits', () => {
  const page = pageOf(10 * KB, 90 * KB);
  const byteBudget = new ByteBudget(310 * KB, page);
  expect(byteBudget.leaveOut(page, [10 * KB, 90 * KB], 3, 0)).toEqual(new Set());
});

it('leaves out the one resource that is just enough, or the largest ones', () => {
  const page = pageOf(10 * KB, 50 * KB, 5 * KB, 20 * KB, 15 * KB);
  const sizes = page.map(({ bytes }) => bytes);
  // 100 kB a round, of which 97% of 90 kB may be: 13 kB are too many.
  expect(new ByteBudget(270 * KB, page).leaveOut(page, sizes, 3, 0.03)).toEqual(new Set([4]));
  // 97% of 85 kB: 17.6 kB too many, which the smallest one does not have.
  expect(new ByteBudget(255 * KB, page).leaveOut(page, sizes, 3, 0.03)).toEqual(new Set([3]));
  const small = pageOf(75 * KB, 8 * KB, 8 * KB, 9 * KB);
  const each = small.map(({ bytes }) => bytes);
  expect(new ByteBudget(270 * KB, small).leaveOut(small, each, 3, 0.03)).toEqual(new Set([3, 1]));
});

it('leaves out nothing that something waits for, nor the document', () => {
  const page = pageOf(80 * KB, 12 * KB, 8 * KB);
  page[2]!.after = [1];
  const sizes = page.map(({ bytes }) => bytes);
  // The last, and then the one that it waited for.
  expect(new ByteBudget(270 * KB, page).leaveOut(page, sizes, 3, 0.03)).toEqual(new Set([2, 1]));
  const alone = pageOf(100 * KB);
  expect(new ByteBudget(290 * KB, alone).leaveOut(alone, [100 * KB], 3, 0)).toBeNull();
});

it('leaves out no more than a quarter', () => {
  const page = pageOf(10 * KB, 45 * KB, 45 * KB);
  const sizes = [10 * KB, 45 * KB, 45 * KB];
  // Little too much, of which nothing smaller than half of the page can be left out.
  expect(new ByteBudget(299 * KB, page).leaveOut(page, sizes, 3, 0)).toBeNull();
  expect(new ByteBudget(200 * KB, page).leaveOut(page, sizes, 3, 0)).toBeNull();
});

it('takes a response of twice its size for the same one', () => {
  const byteBudget = new ByteBudget(null, pageOf(1));
  expect(byteBudget.responseLimit(100 * KB)).toBe(216_384);
  expect(byteBudget.responseLimit(0)).toBeNull();
});
