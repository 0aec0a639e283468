import { type ClusterState, Explorer, emptyCluster } from '@hopwise/model';
import { expect, test } from 'vitest';
import type { Experience } from '../../src/autopilot/explorer-store.ts';
import { forgetLearnt, keyOfPage, listLearnt } from '../../src/autopilot/learnt.ts';

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

test('lists medians in milliseconds by network and page, last page first, the usual way first', () => {
  expect(listLearnt(experienceOf())).toEqual([
    {
      network: 'internet',
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
    // (1 + 2) / 2 × 100 ms.
    { network: 'local', pages: [{ url: A, ways: [{ name: 'leave', medianMs: 150, loads: 2 }] }] },
  ]);
});

test('erasing a network forgets its pages and what they have in common, and leaves the other one', () => {
  const experience = experienceOf();
  forgetLearnt(experience, 'internet');
  expect(listLearnt(experience).map(({ network }) => network)).toEqual(['local']);
  expect([...experience.explorer.clusters.keys()]).toEqual([keyOfPage('local', A)]);
  expect([...experience.scalesMs.keys()]).toEqual([keyOfPage('local', A)]);
});
