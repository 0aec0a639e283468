import { expect, test } from 'vitest';
import { OpenReports } from '../../src/background/open-reports.ts';

test('a tab has eight reports handled at a time, whatever others send', async () => {
  const reports = new OpenReports();
  const ends: (() => void)[] = [];
  const handle = (tabId: number, fails = false) =>
    reports.count(
      tabId,
      new Promise<void>((resolve, reject) =>
        ends.push(() => (fails ? reject(new Error('of it')) : resolve())),
      ),
    );
  const handled = Array.from({ length: 8 }, (_, index) => handle(1, index === 0));
  expect([reports.isFull(1), reports.isFull(2)]).toEqual([true, false]);
  ends[0]!();
  await expect(handled[0]).rejects.toThrow('of it');
  expect(reports.isFull(1)).toBe(false);
  for (const end of ends) end();
  await Promise.all(handled.slice(1));
  expect(reports.isFull(1)).toBe(false);
});
