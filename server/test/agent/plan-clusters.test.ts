import { expect, it } from 'vitest';
import { planClusters } from '../../src/agent/plan-clusters.ts';
import { WindowHistory } from '../../src/agent/window-history.ts';
import { ClusterNames } from '../../src/clusters/cluster-names.ts';

const names = new ClusterNames(Buffer.alloc(32));
const clientsOf = (...addresses: string[]) => addresses.map((address) => names.find(address)!);
const CHOICE = { window: 20, reason: 'best' as const };

it('widens where a narrow cluster has few connections, and keeps to the number of routes', () => {
  const clients = clientsOf('10.1.1.1', '10.1.2.1', '10.1.3.1', '10.2.1.1', '10.3.1.1');
  const connections = [50, 12, 10, 30, 3];
  const connectionsOf = (name: string) => connections[clients.findIndex(({ narrow }) => narrow === name)]!;
  const plan = (maxRoutes: number) =>
    planClusters(clients, connectionsOf, 20, maxRoutes).map(({ prefix }) => prefix);
  expect(plan(10)).toEqual(['10.1.1.0/24', '10.2.1.0/24', '10.1.0.0/16']);
  expect(plan(2)).toEqual(['10.1.1.0/24', '10.2.1.0/24']);
});

it('bounds the routes that any number of prefixes gets', () => {
  const clients = Array.from(
    { length: 3000 },
    (_, index) => names.find(`11.${index >> 8}.${index & 255}.1`)!,
  );
  expect(planClusters(clients, () => 1000, 20, 500)).toHaveLength(500);
});

it('knows with which window a connection began, and where it cannot be known', () => {
  const history = new WindowHistory();
  expect(history.at('a', 100)).toBe('none');
  history.note(new Map([['a', CHOICE]]), 1000, 1005);
  expect(history.at('a', 900)).toBe('none');
  expect(history.at('a', 1002)).toBe('changing');
  expect(history.at('a', 1030)).toEqual(CHOICE);
  // What stays as it is is no change.
  history.note(new Map([['a', CHOICE]]), 1100, 1105);
  expect(history.at('a', 1102)).toEqual(CHOICE);
  for (let change = 2; change <= 40; change++)
    history.note(new Map(change % 2 === 0 ? [] : [['a', CHOICE]]), 1000 * change, 1000 * change + 5);
  expect(history.at('a', 40_030)).toBe('none');
  // Too long ago to be remembered.
  expect(history.at('a', 1030)).toBe('changing');
});

it('forgets clusters that have had no window of their own for a day', () => {
  const history = new WindowHistory();
  const hourMs = 3_600_000;
  for (let hour = 0; hour < 100; hour++)
    history.note(
      new Map([
        ['stays', CHOICE],
        [`came ${hour}`, CHOICE],
      ]),
      hour * hourMs,
      hour * hourMs + 5,
    );
  // The one that stays, the one in force, and those that ended within the last 24 hours, ends included.
  expect(history.size).toBe(2 + 25);
  expect(history.at('came 90', 90.5 * hourMs)).toEqual(CHOICE);
  expect(history.at('stays', 80 * hourMs)).toEqual(CHOICE);
  // It may have had a window of its own when the connection began.
  expect(history.at('came 3', 3.5 * hourMs)).toBe('changing');
});
