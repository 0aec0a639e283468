import { type ClusterState, Explorer, emptyCluster } from '@hopwise/model';
import { expect, test } from 'vitest';
import type { Experience } from '../../../src/autopilot/learning/explorer-store.ts';
import {
  forgetLearnedPages,
  forgetPlace,
  keyOfPage,
  listLearned,
} from '../../../src/autopilot/learning/learned.ts';

const A = 'https://a.test/';
const B = 'https://b.test/?…';

function clusterOf(arms: Record<string, number[]>): ClusterState {
  const loads = Object.entries(arms).map(([name, relative]) => [
    name,
    relative.map((each, at) => ({ relative: each, at })),
  ]);
  return { ...emptyCluster(), arms: Object.fromEntries(loads) };
}

/** Two pages on the internet, of which B was loaded last, and one in the user's own network. */
function experienceOf(): Experience {
  const pages: [string, number, Record<string, number[]>][] = [
    [keyOfPage('internet', A), 1000, { 'avoid-h3 h2': [0.5], leave: [1, 1.2, 3] }],
    [keyOfPage('local', A), 100, { leave: [1, 2] }],
    [keyOfPage('internet', B), 2000, { leave: [1] }],
  ];
  const clusters = pages.map(([key, , arms]): [string, ClusterState] => [key, clusterOf(arms)]);
  const wide: [string, ClusterState] = ['internet', clusterOf({ leave: [1, 1.2, 3, 1] })];
  return {
    explorer: new Explorer(new Map([...clusters, wide])),
    scalesMs: new Map(pages.map(([key, scaleMs]) => [key, scaleMs])),
  };
}

const HOME = { key: 'home', usedAtMs: 2 };
const placesOf = (experience: Experience) =>
  listLearned([{ ...experience, ...HOME }], null).map(({ place }) => place);

test('lists medians in milliseconds by network and page, last page first, the usual way first', () => {
  const page = keyOfPage('local', B);
  const other = {
    key: null,
    usedAtMs: 1,
    explorer: new Explorer(new Map([[page, clusterOf({ leave: [3] })]])),
    scalesMs: new Map([[page, 10]]),
  };
  expect(listLearned([{ ...experienceOf(), ...HOME }, other], 'home')).toEqual([
    {
      ...HOME,
      isCurrent: true,
      place: 'internet',
      pages: [
        { url: B, ways: [{ name: 'leave', medianMs: 2000, loads: 1 }] },
        {
          url: A,
          ways: [
            // 1.2 × 1000 ms.
            { name: 'leave', medianMs: 1200, loads: 3 },
            { name: 'avoid-h3 h2', medianMs: 500, loads: 1 },
          ],
        },
      ],
    },
    {
      ...HOME,
      isCurrent: true,
      place: 'local',
      // (1 + 2) / 2 × 100 ms.
      pages: [{ url: A, ways: [{ name: 'leave', medianMs: 150, loads: 2 }] }],
    },
    {
      key: null,
      usedAtMs: 1,
      isCurrent: false,
      place: 'local',
      pages: [{ url: B, ways: [{ name: 'leave', medianMs: 30, loads: 1 }] }],
    },
  ]);
});

test('erasing a place forgets its pages and what they have in common, and leaves the other one', () => {
  const experience = experienceOf();
  forgetPlace(experience, 'internet');
  expect(placesOf(experience)).toEqual(['local']);
  expect([...experience.explorer.clusters.keys()]).toEqual([keyOfPage('local', A)]);
  expect([...experience.scalesMs.keys()]).toEqual([keyOfPage('local', A)]);
});

test('forgetting a page leaves the others, and what they have in common while there are any', () => {
  const experience = experienceOf();
  expect(forgetLearnedPages(experience, (url) => url === 'https://c.test/')).toBe(false);
  expect(forgetLearnedPages(experience, (url) => url === A)).toBe(true);
  expect([...experience.explorer.clusters.keys()]).toEqual([keyOfPage('internet', B), 'internet']);
  expect(forgetLearnedPages(experience, (url) => url === B)).toBe(true);
  expect(experience.explorer.clusters.size + experience.scalesMs.size).toBe(0);
});
